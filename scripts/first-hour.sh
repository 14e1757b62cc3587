#!/usr/bin/env bash
# Runs the first steps of a new user, without a network: clone the repository, get an API key, get a transcript in three
# formats, receive a webhook, make a backup, upgrade, and restore the backup. scripts/first-hour.sh [PROGRAM [FOLDER]]
# makes the clone in FOLDER, or in a temporary folder. The script runs PROGRAM, a built program, and upgrades it twice.
# The first upgrade installs a program that the script builds from the clone, with a public key for releases. The second
# upgrade installs a signed release. The program of the first upgrade must check the signature of this release. Without
# PROGRAM, the script runs the source code in the clone with Bun. The last line of the output contains the total time in
# seconds.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
place=$(mktemp -d)
clone=$(mktemp -d -p "${2:-$place}")
[ $# -eq 0 ] || set -- "$(realpath "$1")"
server= receiver=
trap 'for process in $server $receiver; do kill "$process" 2>/dev/null || true; done; wait; rm -rf "$place" "$clone"' EXIT
step() { echo "$SECONDS s: $*"; }
fail() { echo "FAILED: $*" >&2; exit 1; }

step clone
# With --shared, git does not copy the objects of the original checkout, so that the clone takes little time.
git -c advice.detachedHead=false clone -q --shared --no-checkout "$root" "$clone"
ln -s "$clone" "$place/steno"
cd "$clone"
git reset -q
# The largest file is copied from the original checkout if it has no uncommitted change, because git needs more time to
# unpack this file than to check out all others. A hard link would change the ctime of the file in the original
# checkout, and git would then read that file again.
large=models/whisper-base/compact.safetensors
git -C "$root" diff --quiet HEAD -- $large || large=
git checkout -q -- . ${large:+":!$large"}
[ -z "$large" ] || cp "$root/$large" $large
ln -s "$root/node_modules" node_modules
if [ $# -gt 0 ]; then
  # The program is a hard link, because a copy would write 230 MB. An upgrade puts a new file at this path, and does not
  # change the old file.
  program=$place/steno-program
  ln "$1" "$program" 2>/dev/null || cp "$1" "$program"
else program=$place/steno/steno; fi
bun=$(scripts/bun-path "$(sed -n 's/^BUN_VERSION := //p' Makefile)")
unset "${!STENO_@}"
export STENO_MODEL=pocket STENO_CACHE_DIR=$place/cache STENO_ENV_FILE=$place/none STENO_DISK_RESERVE=1MB
# Sends all requests to other machines to a proxy that does not exist, so that each such request fails.
export HTTPS_PROXY=http://127.0.0.1:1 NO_PROXY=127.0.0.1,localhost
cd "$place"
sound=$place/steno/test/fixtures/speech/doctor.flac

# The restored service uses the files that the first service unpacks, so that they are unpacked only once.
mkdir restored
ln -s "$place/data/native" restored/native

serve() { # serve FOLDER starts the service and sets url and key
  rm -f "$place/out"
  "$program" serve --port 0 --data-dir "$1" --allow-nets 127.0.0.0/8 --log json >"$place/out" 2>"$place/log" &
  server=$!
  for _ in $(seq 600); do grep -qs "API key" "$place/out" && break; sleep 0.1; done
  url=$(sed -n 's/^steno listens on //p' "$place/out")
  [ -n "$url" ] || fail "the service did not start: $(tail -n 3 "$place/log")"
}
cat >release.ts <<'TS'
// Without arguments, prints the public key. With the words of two commits, changes the file `next`, a copy of the
// release of the first commit, into the release of the second commit, and signs it. A second build would differ only in
// the commit and its time, and would take three times as long.
import { publicKeyOf, signRelease } from './steno/src/cli/release.ts'
const key = await Bun.file('release.pem').text()
const [before, after] = process.argv.slice(2).map(line => line.split(' '))
if (!before) console.log(publicKeyOf(key))
else {
  // What is written into the mapped memory is written into the file.
  const program = Buffer.from(Bun.mmap('next').buffer)
  const [commit, short, committed] = after
  for (const [old, text] of [[before[1], short], [before[2], committed]])
    for (let from = program.indexOf(old); from >= 0; from = program.indexOf(old, from + 1)) program.write(text, from)
  const sha256 = new Bun.CryptoHasher('sha256').update(program).digest('hex')
  const release = { version: '1', commit, committed, target: `linux-${process.arch}`, sha256 }
  await Bun.write('next.sig', signRelease(release, key))
}
TS
commit() { TZ=UTC git -C steno log -1 --abbrev=12 --date=format-local:%Y-%m-%dT%H:%M:%S.000Z "--format=%H %h %cd"; }
stop() { kill -TERM "$server"; wait "$server" || fail "the service did not stop cleanly"; server=; }
ask() { curl -sf -H "Authorization: Bearer $key" "$@"; }
field() { "$bun" -e 'console.log(JSON.parse(await Bun.stdin.text())[process.argv[1]] ?? "")' "$1"; }

step "first start, and its key"
serve data
key=$(grep -o 'sk_live_[^ ]*' out)
"$program" accounts create ana@example.org --credit 10.00 --data-dir data >/dev/null
key=$("$program" keys create ana@example.org --data-dir data)

step "webhook receiver"
cat >receiver.ts <<'TS'
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    const { event } = await request.json()
    await Bun.write('events', `${await Bun.file('events').text().catch(() => '')}${event} ${request.headers.get('x-service-signature')?.length}\n`)
    return new Response('ok')
  },
})
await Bun.write('receiver-port', String(server.port))
TS
"$bun" receiver.ts &
receiver=$!
for _ in $(seq 100); do [ -s receiver-port ] && break; sleep 0.1; done

step "upload, job, three formats"
upload=$(ask -X POST "$url/v1/upload" -H 'Content-Type: application/json' -d '{"filename": "talk.flac"}')
curl -sf -T "$sound" "$(field upload_url <<<"$upload")" -H 'Content-Type: audio/flac' >/dev/null
job=$(ask -X POST "$url/v1/transcribe" -H 'Content-Type: application/json' -d "{\"upload_id\": \"$(field upload_id <<<"$upload")\", \"webhook_url\": \"http://127.0.0.1:$(cat receiver-port)/\"}" | field id)
for _ in 1 2 3 4; do [ "$(ask "$url/v1/transcribe/$job?wait=60" | field status)" = completed ] && break; done
ask "$url/v1/transcribe/$job?format=text" | grep -q cloudy || fail "the text is not that of the recording"
ask "$url/v1/transcribe/$job?format=srt" | grep -q -- '-->' || fail "no subtitles"
ask "$url/v1/transcribe/$job?format=vtt" | grep -q WEBVTT || fail "no WebVTT"
for _ in $(seq 100); do [ "$(grep -c ' 64$' events 2>/dev/null)" = 2 ] && break; sleep 0.1; done
grep -q '^transcription.completed 64$' events || fail "no signed webhook came"

step backup
"$program" backup backup.db --data-dir data >/dev/null
[ -s backup.db ] && [ -s backup.db.key ] || fail "no backup"

step "upgrade to a release, then to the next one"
stop
if [ $# -gt 0 ]; then
  openssl genpkey -algorithm ed25519 -out release.pem 2>/dev/null
  STENO_RELEASE_KEY=$("$bun" release.ts) "$bun" steno/scripts/build.ts "$place/first" --no-bytecode >/dev/null
  ! grep -qaF bunfs/root/first first || fail "the program contains the name of its file: a build with another name differs"
  before=$(commit)
  # The next release is a commit without changes. `git commit` would read all files again, but commit-tree does not.
  git -C steno reset -q --soft "$(git -C steno -c user.name=steno -c user.email=steno@localhost commit-tree 'HEAD^{tree}' -p HEAD -m 'The next release')"
  cp first next
  "$bun" release.ts "$before" "$(commit)"
  "$program" upgrade --from first 2>/dev/null && fail "a program without a key took a release unasked"
  "$program" upgrade --from first --unsigned >/dev/null
  head -c 1000000 next >cut
  cp next.sig cut.sig
  "$program" upgrade --from cut 2>cut.txt && fail "the release took a file that is cut short"
  grep -q 'cut short' cut.txt || fail "a file that is cut short was refused for another reason: $(cat cut.txt)"
  "$program" upgrade --from next --unsigned 2>/dev/null && fail "a release took a program without a check of its signature"
  # A program that a browser has downloaded is not executable. The upgrade must make it executable.
  chmod a-x next
  "$program" upgrade --from next >/dev/null
  [ "$("$program" version --json | field commit)" = "$(git -C steno rev-parse --short=12 HEAD)" ] || fail "the next release does not run"
  [ "$("$program.old" version --json | field commit)" = "$(git -C steno rev-parse --short=12 HEAD~1)" ] || fail "the release before is not kept"
else
  git -C steno pull -q --ff-only
fi
# The steps below transcribe nothing. STENO_MODEL names a folder without a model, so that the server loads none.
export STENO_MODEL=$place
serve data
grep -q 'keys create' out || fail "the second start does not tell how a key is made"
ask "$url/v1/transcribe/$job?format=text" | grep -q cloudy || fail "the transcript is gone after the upgrade"
stop

step restore
"$program" restore backup.db --data-dir restored >/dev/null
serve restored
ask "$url/v1/transcribe/$job?format=text" | grep -q cloudy || fail "the transcript is not in the backup"
stop
"$program" accounts delete ana@example.org --yes --data-dir restored >/dev/null

[ ! -e steno-data ] || fail "a command left steno-data in the working folder"
echo "good: the first hour took $SECONDS s"
