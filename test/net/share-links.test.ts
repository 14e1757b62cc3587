import { expect, test } from 'bun:test'
import { directAddress } from '../../src/net/share-links.ts'
import { isSignIn } from '../../src/net/sign-in-pages.ts'

const drive = 'https://drive.usercontent.google.com/download?id=1AbC-d_9&export=download&confirm=t'

test.each([
  ['https://www.dropbox.com/s/abc123/talk.mp3?dl=0', 'https://www.dropbox.com/s/abc123/talk.mp3?dl=1'],
  ['https://www.dropbox.com/s/abc123/talk.mp3', 'https://www.dropbox.com/s/abc123/talk.mp3?dl=1'],
  ['https://dropbox.com/s/abc123/talk.mp3?raw=1', 'https://dropbox.com/s/abc123/talk.mp3?raw=1'],
  [
    'https://www.dropbox.com/scl/fi/abc/talk.mp3?rlkey=k3y&st=x&dl=0',
    'https://www.dropbox.com/scl/fi/abc/talk.mp3?rlkey=k3y&st=x&dl=1',
  ],
  [
    'https://www.dropbox.com/scl/fo/abc/hash/talk.mp3?rlkey=k3y',
    'https://www.dropbox.com/scl/fo/abc/hash/talk.mp3?rlkey=k3y&dl=1',
  ],
  [
    'https://www.dropbox.com/scl/fo/abc/hash/talk.mp3?rlkey=k3y&raw=1',
    'https://www.dropbox.com/scl/fo/abc/hash/talk.mp3?rlkey=k3y&raw=1',
  ],
  ['https://drive.google.com/file/d/1AbC-d_9/view?usp=sharing', drive],
  ['https://drive.google.com/file/d/1AbC-d_9', drive],
  ['https://drive.google.com/file/u/1/d/1AbC-d_9/preview', drive],
  ['https://docs.google.com/file/d/1AbC-d_9/edit', drive],
  ['https://drive.google.com/open?id=1AbC-d_9', drive],
  ['https://drive.google.com/u/0/open?id=1AbC-d_9&usp=drive_fs', drive],
  ['https://drive.google.com/uc?export=download&id=1AbC-d_9', drive],
  ['https://docs.google.com/uc?id=1AbC-d_9', drive],
  [drive, drive],
  ['https://drive.google.com/file/d/1AbC-d_9/view?resourcekey=0-Zz', `${drive}&resourcekey=0-Zz`],
  ['https://1drv.ms/u/s!AkCh?e=7aLp', 'https://1drv.ms/u/s!AkCh?e=7aLp&download=1'],
  ['https://1drv.ms/v/c/00ff/IQAb', 'https://1drv.ms/v/c/00ff/IQAb?download=1'],
  [
    'https://onedrive.live.com/redir?resid=D3A1!115&authkey=!AN&ithint=file,mp3',
    'https://onedrive.live.com/download?resid=D3A1%21115&authkey=%21AN&ithint=file%2Cmp3',
  ],
  [
    'https://onedrive.live.com/?authkey=!AN&id=D3A1!115&cid=D3A1',
    'https://onedrive.live.com/download?resid=D3A1%21115&authkey=%21AN&cid=D3A1',
  ],
  [
    'https://onedrive.live.com/embed?cid=D3A1&resid=D3A1!115&authkey=AN',
    'https://onedrive.live.com/download?resid=D3A1%21115&authkey=AN&cid=D3A1',
  ],
  [
    'https://firm.sharepoint.com/:v:/s/team/EaBc?e=x1',
    'https://firm.sharepoint.com/:v:/s/team/EaBc?e=x1&download=1',
  ],
  [
    'https://firm-my.sharepoint.com/:u:/g/personal/ana/EaBc',
    'https://firm-my.sharepoint.com/:u:/g/personal/ana/EaBc?download=1',
  ],
  ['https://app.box.com/s/ab12cd', 'https://app.box.com/shared/static/ab12cd'],
  ['https://firm.app.box.com/s/ab12cd', 'https://firm.app.box.com/shared/static/ab12cd'],
  ['https://app.box.com/shared/static/ab12cd.mp3', 'https://app.box.com/shared/static/ab12cd.mp3'],
  ['https://cloud.example/index.php/s/AbCd12', 'https://cloud.example/index.php/s/AbCd12/download'],
  ['https://github.com/ana/talks/blob/main/a/b.mp3', 'https://github.com/ana/talks/raw/main/a/b.mp3'],
  ['https://gitlab.example/ana/talks/-/blob/main/b.mp3', 'https://gitlab.example/ana/talks/-/raw/main/b.mp3'],
  [
    'https://huggingface.co/datasets/ana/talks/blob/main/b.wav',
    'https://huggingface.co/datasets/ana/talks/resolve/main/b.wav',
  ],
  // These addresses only look similar to share links, and stay unchanged.
  ['https://example.com/s/abc/talk.mp3?dl=0', 'https://example.com/s/abc/talk.mp3?dl=0'],
  ['https://notdropbox.com/s/abc/talk.mp3?dl=0', 'https://notdropbox.com/s/abc/talk.mp3?dl=0'],
  ['https://www.dropbox.com.evil.test/s/a/b?dl=0', 'https://www.dropbox.com.evil.test/s/a/b?dl=0'],
  ['https://evilsharepoint.com/:v:/s/a', 'https://evilsharepoint.com/:v:/s/a'],
  [
    'https://bucket.s3.amazonaws.com/a.mp3?X-Amz-Signature=ff',
    'https://bucket.s3.amazonaws.com/a.mp3?X-Amz-Signature=ff',
  ],
  ['https://docs.google.com/document/d/1AbC/edit', 'https://docs.google.com/document/d/1AbC/edit'],
  ['https://drive.google.com/open', 'https://drive.google.com/open'],
])('%s is read from %s', (share, direct) => {
  const found = directAddress(new URL(share))
  expect(String(found)).toBe(direct)
  // The download calls `directAddress` again after each redirect, so a direct address must stay unchanged.
  expect(String(directAddress(new URL(direct)))).toBe(direct)
})

test.each([
  'https://www.dropbox.com/sh/abc/AAd?dl=0',
  'https://www.dropbox.com/scl/fo/abc/hash?rlkey=k&dl=0',
  'https://drive.google.com/drive/folders/1AbC?usp=sharing',
  'https://drive.google.com/drive/u/0/folders/1AbC',
  'https://drive.google.com/folderview?id=1AbC',
  'https://1drv.ms/f/s!AkCh',
  'https://firm.sharepoint.com/:f:/s/team/EaBc',
  'https://app.box.com/folder/12345',
])('%s is a folder', share => {
  expect(directAddress(new URL(share))).toBe('folder')
})

test.each([
  'https://mega.nz/file/abc#key',
  'https://drive.proton.me/urls/ABC#key',
  'https://photos.app.goo.gl/abc',
  'https://www.icloud.com/iclouddrive/abc',
])('%s opens in its own pages alone', share => {
  expect(directAddress(new URL(share))).toBe('own-app')
})

test.each([
  ['https://accounts.google.com/v3/signin/identifier?continue=x', true],
  ['https://login.microsoftonline.com/common/oauth2/authorize', true],
  ['https://login.live.com/login.srf', true],
  ['https://firm.okta.com/app/x', true],
  ['https://cloud.example/index.php/login?redirect_url=x', true],
  ['https://www.dropbox.com/login?cont=x', true],
  ['https://example.com/sign-in', true],
  ['https://example.com/talks/logins-explained.mp3', false],
  ['https://example.com/talk.mp3', false],
])('%s asks for a sign-in: %p', (address, expected) => {
  expect(isSignIn(new URL(address))).toBe(expected)
})
