#!/bin/sh
# Boots systemd as process 1 in namespaces of its own (the box), and runs a script there as a service.
# systemd-box.sh FOLDER: runs FOLDER/script, and writes its output to FOLDER/out. The box has the root folder of this
# machine, but all changes of files outside FOLDER are lost at the end. Its only network is loopback. SIGTERM ends the
# script and all processes of the box.
set -eu
folder=$1
tree=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
group=$tree/steno-test-$$
mkdir "$group"
unshared=
close() {
  # `unshare` starts the first process of the namespaces. If `unshare` is killed, the kernel kills this first process,
  # and then all others in the namespaces.
  [ -z "$unshared" ] || kill -KILL "$unshared" 2>/dev/null || true
  while grep -q 'populated 1' "$group/cgroup.events"; do sleep 0.1; done
  find "$group" -depth -type d -exec rmdir {} \;
}
trap close EXIT
trap 'exit 1' TERM
cat >"$folder/box.service" <<UNIT
[Unit]
Requires=basic.target
After=basic.target

[Service]
Type=oneshot
ExecStart=/bin/bash -euo pipefail /box/script
ExecStopPost=/bin/systemctl --force exit 0
StandardOutput=file:/box/out
StandardError=file:/box/err
UNIT
cat >"$folder/boot" <<'BOOT'
set -eu
root=/run/steno-box
mount --make-rprivate /
mkdir -p "$root"
mount -t tmpfs tmpfs "$root"
cd "$root"
mkdir upper work whole
mount -t overlay -o lowerdir=/,upperdir=upper,workdir=work overlay whole
cd whole
rm -rf etc/systemd/system etc/systemd/system-generators etc/machine-id
mkdir -p etc/systemd/system etc/systemd/system-generators box old
# systemd runs its generators at the boot and at each daemon-reload. These programs make units, for example from
# /etc/fstab. The box needs none of these units. A link to /dev/null turns a generator off.
for generator in lib/systemd/system-generators/*; do
  ln -s /dev/null "etc/systemd/system-generators/${generator##*/}"
done
: >etc/machine-id
mount --bind "$1" box
cp box/box.service etc/systemd/system/
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
for place in run tmp dev var/log/journal; do mkdir -p $place; mount -t tmpfs -o mode=755 tmpfs $place; done
for device in null zero full random urandom tty; do
  touch dev/$device
  mount --bind /dev/$device dev/$device
done
mkdir dev/shm
ln -s /proc/self/fd dev/fd
pivot_root . old
umount -l old
exec env -i container=steno-test PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  /lib/systemd/systemd --unit=box.service --log-target=null
BOOT
sh -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$group" \
  unshare --pid --fork --kill-child --mount --uts --ipc --net --cgroup sh "$folder/boot" "$folder" </dev/null &
unshared=$!
wait "$unshared"
