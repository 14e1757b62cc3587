import { expect, test } from 'bun:test'
import { literalAddress, reachable } from '../../src/net/address.ts'
import { type Nets, parseNets } from '../../src/net/nets.ts'

const nowhere = nets('')

test.each([
  ['1.1.1.1', true],
  ['8.8.8.8', true],
  ['9.255.255.255', true],
  ['11.0.0.0', true],
  ['100.63.255.255', true],
  ['100.128.0.0', true],
  ['126.255.255.255', true],
  ['128.0.0.1', true],
  ['169.253.255.255', true],
  ['172.15.255.255', true],
  ['172.32.0.0', true],
  ['192.0.1.0', true],
  ['192.167.255.255', true],
  ['192.169.0.0', true],
  ['198.17.255.255', true],
  ['198.20.0.0', true],
  ['223.255.255.255', true],
  ['0.0.0.0', false],
  ['0.1.2.3', false],
  ['10.0.0.1', false],
  ['10.255.255.255', false],
  ['100.64.0.0', false],
  ['100.100.100.200', false],
  ['100.127.255.255', false],
  ['127.0.0.1', false],
  ['127.255.255.254', false],
  ['168.63.129.16', false],
  ['169.254.169.254', false],
  ['172.16.0.1', false],
  ['172.31.255.255', false],
  ['192.0.0.192', false],
  ['192.0.2.1', false],
  ['192.88.99.1', false],
  ['192.168.1.1', false],
  ['198.18.0.1', false],
  ['198.19.255.255', false],
  ['198.51.100.7', false],
  ['203.0.113.7', false],
  ['224.0.0.1', false],
  ['239.255.255.255', false],
  ['240.0.0.1', false],
  ['255.255.255.255', false],
])('IPv4 %s may be reached: %p', (address, expected) => {
  expect(reachable(address, nowhere)).toBe(expected)
  expect(reachable(`::ffff:${address}`, nowhere)).toBe(expected)
  expect(reachable(`64:ff9b::${address}`, nowhere)).toBe(expected)
})

test.each([
  ['2606:4700:4700::1111', true],
  ['2a00:1450:4001:82a::200e', true],
  ['3ffe::1', true],
  ['2001:200::1', true],
  ['2620:4f:8000::1', true],
  ['::', false],
  ['::1', false],
  ['0:0:0:0:0:0:0:1', false],
  ['::ffff:7f00:1', false],
  ['0:0:0:0:0:FFFF:127.0.0.1', false],
  ['::127.0.0.1', false],
  ['::8.8.8.8', false],
  ['::ffff:0:8.8.8.8', false],
  ['64:ff9b::a00:1', false],
  ['64:ff9b:1::808:808', false],
  ['100::1', false],
  ['2001::1', false],
  ['2001:0:4136:e378:8000:63bf:3fff:fdd2', false],
  ['2001:2::1', false],
  ['2001:10::1', false],
  ['2001:db8::1', false],
  ['2002:7f00:1::', false],
  ['2002:808:808::1', false],
  ['3fff::1', false],
  ['5f00::1', false],
  ['4000::1', false],
  ['fc00::1', false],
  ['fd00:ec2::254', false],
  ['fe80::1', false],
  ['fe80::1%eth0', false],
  ['::1%lo', false],
  ['fec0::1', false],
  ['ff02::1', false],
])('IPv6 %s may be reached: %p', (address, expected) => {
  expect(reachable(address, nowhere)).toBe(expected)
})

test.each(['', 'localhost', '127.1', '0177.0.0.1', '1.2.3', '1.2.3.4.5', '::g', '1::2::3', '8.8.8.8 '])(
  'a text that is not an address (%p) may not be reached',
  text => {
    expect(reachable(text, nets('0.0.0.0/0,::/0'))).toBe(false)
  },
)

test.each([
  ['127.0.0.0/8', '127.0.0.1', true],
  ['127.0.0.0/8', '::ffff:127.0.0.1', true],
  ['127.0.0.0/8', '::ffff:7f00:1', true],
  ['127.0.0.0/8', '64:ff9b::7f00:1', true],
  ['127.0.0.0/8', '::1', false],
  ['127.0.0.0/8', '10.0.0.1', false],
  ['::1', '0:0:0:0:0:0:0:1', true],
  ['fd00::/8', 'fd12::1', true],
  ['fd00::/8', 'fe80::1', false],
  ['fe80::/10', 'fe80::1%eth0', true],
  ['10.0.0.0/8', '1.1.1.1', true],
])('with %s allowed, %s may be reached: %p', (allowed, address, expected) => {
  expect(reachable(address, nets(allowed))).toBe(expected)
})

test.each([
  'http://127.0.0.1/',
  'http://127.1/',
  'http://2130706433/',
  'http://0x7f000001/',
  'http://0x7f.1/',
  'http://0177.0.0.1/',
  'http://00000000177.0.0.1/',
  'http://127.0.0.1./',
  'http://127。0。0。1/',
  'http://１２７.0.0.1/',
  'http://①②⑦.0.0.1/',
  'http://%31%32%37.0.0.1/',
  'http://user:pass@127.0.0.1:80/',
  'http://0/',
  'http://[::1]/',
  'http://[0:0:0:0:0:0:0:1]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[::FFFF:7f00:1]/',
  'http://[64:ff9b::127.0.0.1]/',
])('%s is read as the IP address that it is', text => {
  const literal = literalAddress(new URL(text))
  expect(literal).not.toBeNull()
  expect(reachable(literal ?? '', nowhere)).toBe(false)
})

test.each([
  'http://localhost/',
  'http://evil.test@example.com/',
  'http://127.0.0.1.example.com/',
  'http://-1/',
])('%s names no address, so its name is looked up', text => {
  expect(literalAddress(new URL(text))).toBeNull()
})

test.each(['10.0.0.0/33', '::/129', '10.0.0.0/', '10.0.0', 'localhost', '10.0.0.0/8;::1'])(
  '%p is no list of networks',
  text => {
    expect(parseNets(text)).toBeNull()
  },
)

function nets(text: string): Nets {
  const parsed = parseNets(text)
  if (!parsed) throw new Error(`${text} are no networks`)
  return parsed
}

test.each([
  ['93.184.216.34', true],
  ['::ffff:93.184.216.34', true],
  ['64:ff9b::5db8:d822', true],
  ['2606:2800:220:1::1', true],
  ['2606:2800:220:1:0:0:0:1', true],
  ['93.184.216.35', false],
  ['2606:2800:220:1::2', false],
])('an address of the machine itself is not reached unless it is allowed: %s', (address, isOwn) => {
  const own = nets('93.184.216.34,2606:2800:220:1::1,127.0.0.1')
  expect(reachable(address, nowhere, own)).toBe(!isOwn)
  expect(reachable(address, nets('93.184.216.34,2606:2800:220:1::1'), own)).toBe(true)
})
