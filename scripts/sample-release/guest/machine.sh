#!/bin/sh
# Second stage of the sample system: says on the serial line what it was booted with, then powers off.
# A line is "casthouse-sample: <fact> <value>"; values carry no raw newline (backslash escapes as in JSON).
/usr/bin/busybox mkdir -p /run/bin && /usr/bin/busybox --install -s /run/bin
export PATH=/run/bin:/usr/bin
. /etc/os-release

TTYS=""
for tty in ttyS0 ttyAMA0; do
  (: >/dev/$tty) 2>/dev/null && TTYS="$TTYS /dev/$tty"
done
case " $(cat /sys/class/tty/console/active) " in
  *" ttyS0 "* | *" ttyAMA0 "*) ;;
  *) TTYS="$TTYS /dev/console" ;;
esac
say() {
  for tty in $TTYS; do printf 'casthouse-sample: %s\r\n' "$*" >"$tty"; done 2>/dev/null
}
digest() { sha256sum "$1" | cut -d ' ' -f 1; }
hex() { od -An -v -tx1 | tr -d ' \n'; }

# A driver shows new devices, so this goes on until nothing new turns up; then disks get two seconds to be found.
load_drivers() {
  : >/run/casthouse/seen
  for pass in 1 2 3 4 5; do
    find /sys/devices -name modalias -exec cat {} + 2>/dev/null | sort -u >/run/casthouse/aliases
    sort /run/casthouse/seen /run/casthouse/seen /run/casthouse/aliases | uniq -u >/run/casthouse/new
    [ -s /run/casthouse/new ] || break
    mv /run/casthouse/aliases /run/casthouse/seen
    xargs modprobe -a -b -q </run/casthouse/new 2>/dev/null
  done
  tries=0
  while [ $tries -lt 20 ] && ls /sys/class/scsi_host 2>/dev/null | grep -q . && ! ls /sys/block | grep -q '^[sv]'; do
    tries=$((tries + 1))
    usleep 100000
  done
}

firmware_mode() {
  [ -d /sys/firmware/efi ] || { echo "bios"; return; }
  modprobe -q efivarfs && mount -t efivarfs efivarfs /sys/firmware/efi/efivars 2>/dev/null
  state=unknown
  variable=/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c
  [ -r "$variable" ] && case $(tail -c 1 "$variable" | hex) in 01) state=on ;; *) state=off ;; esac
  echo "uefi secureboot=$state"
}

# PCR 11, where systemd-stub measures the parts of a unified kernel image, in every bank of a TPM.
show_measurements() {
  for bank in /sys/class/tpm/tpm0/pcr-*; do
    [ -r "$bank/11" ] && say "pcr 11 ${bank##*/pcr-} $(tr A-F a-f <"$bank/11")"
  done
}

# Text with backslash, newline and carriage return escaped; the full stop keeps a newline at the end from being lost.
escaped() {
  { cat; printf .; } | sed -e 's/\\/\\\\/g' -e 's/\r/\\r/g' | awk 'NR > 1 { printf "\\n" } { printf "%s", $0 }' | sed 's/\.$//'
}
number() { printf '%d' "0x$(dd if="$1" bs=1 skip="$2" count=4 2>/dev/null | hex)"; }

# Records of the Talos ADV at the start of a META partition: big-endian tag, length, value; tag 0 ends them.
show_meta_partition() {
  [ "$(dd if="$1" bs=1 count=4 2>/dev/null | hex)" = 5a4b3c2d ] || { say "meta disk empty"; return; }
  at=4
  while [ $at -lt 262108 ]; do
    tag=$(number "$1" $at)
    [ "$tag" = 0 ] && break
    length=$(number "$1" $((at + 4)))
    say "meta disk $(printf '0x%x' "$tag") $(dd if="$1" bs=1 skip=$((at + 8)) count="$length" 2>/dev/null | escaped)"
    at=$((at + 8 + length))
  done
}

# META that came on the command line: base64 of "0xa=value;0xb=value", gzipped when long.
show_meta_environment() {
  text=$(tr ' ' '\n' </proc/cmdline | sed -n 's/^talos\.environment=INSTALLER_META_BASE64=//p' | head -n 1)
  [ -n "$text" ] || return
  printf '%s' "$text" | base64 -d >/run/casthouse/meta
  if [ "$(head -c 2 /run/casthouse/meta | hex)" = 1f8b ]; then
    gunzip -c </run/casthouse/meta >/run/casthouse/meta.text
  else
    cp /run/casthouse/meta /run/casthouse/meta.text
  fi
  entries=$(cat /run/casthouse/meta.text; echo ';')
  set -f
  IFS=';'
  set -- $entries
  unset IFS
  for entry in "$@"; do
    say "meta environment ${entry%%=*} $(printf '%s' "${entry#*=}" | escaped)"
  done
}

show_extensions() {
  while read -r image name version size path; do
    say "extension $image $name $version"
    if [ -n "$path" ]; then
      say "file $name /$path $(stat -c %s "/$path") $(digest "/$path")"
    else
      say "file $name none"
    fi
  done </run/casthouse/extensions
  while read -r line; do say "$line"; done </run/casthouse/microcode
  for folder in /usr/lib/firmware /lib/firmware; do
    [ -d $folder ] && [ ! -L "${folder%/*}" ] || continue
    find $folder -type f | sort | while read -r file; do
      say "firmware $file $(stat -c %s "$file") $(digest "$file")"
    done
  done
}

# Modules that extensions brought: found through the merged modules.dep, loaded by name.
show_modules() {
  dep=/lib/modules/$(uname -r)/modules.dep
  sed -n 's/^\(extras\/[^:]*\):.*/\1/p' "$dep" | while read -r module; do
    name=$(basename "$module" .ko)
    if modprobe "$name" 2>/dev/null && grep -q "^$(echo "$name" | tr - _) " /proc/modules; then
      say "module $name loaded $(digest "${dep%/*}/$module")"
    else
      say "module $name failed"
    fi
  done
}

# Starts each extension service once and repeats the first line it prints.
run_services() {
  for service in /usr/local/etc/containers/*.yaml; do
    [ -f "$service" ] || continue
    name=$(sed -n 's/^name: *//p' "$service")
    entry=$(sed -n 's/^  entrypoint: *//p' "$service")
    root=/usr/local/lib/containers/$name
    [ -x "$root/${entry#./}" ] || continue
    line=$(timeout 20 chroot "$root" "/${entry#./}" --version 2>&1 | head -n 1)
    say "service $name $line"
  done
}

say "begin"
say "version $VERSION_ID"
say "machine $(uname -m)"
say "kernel $(uname -r)"
load_drivers
say "boot mode $(firmware_mode)"
show_measurements
say "cmdline $(cat /proc/cmdline)"
schematic=$(ls /usr/local/share/schematic 2>/dev/null | head -n 1)
say "schematic ${schematic:-none}"
show_extensions
show_modules
run_services
for config in /usr/local/etc/talos/config.yaml; do
  [ -f $config ] && say "embedded config $(stat -c %s $config) $(digest $config)"
done
meta=$(grep -l '^PARTNAME=META$' /sys/class/block/*/uevent 2>/dev/null | head -n 1)
if [ -n "$meta" ]; then
  say "disk sector $(cat "$(readlink -f "${meta%/uevent}")/../queue/logical_block_size")"
  show_meta_partition "/dev/$(basename "${meta%/uevent}")"
else
  say "meta disk none"
fi
show_meta_environment
say "boot ok"
grep -qw casthouse.stay /proc/cmdline && while :; do sleep 3600; done
poweroff -f
