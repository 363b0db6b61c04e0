# First stage of the sample system, run by the busybox that /init carries: stacks rootfs.sqsh and the extension layers.
# Works from the files of the initramfs only: rootfs.sqsh, extensions.yaml, N.sqsh and the firmware folder.
# The modules loop, squashfs and overlay are already loaded by /init.
set -u
BB=/.casthouse/busybox
$BB mkdir -p /.casthouse/bin /proc /sys /dev /layers /root
$BB --install -s /.casthouse/bin
export PATH=/.casthouse/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev 2>/dev/null
dmesg -n 1

fail() {
  for tty in /dev/console /dev/ttyS0 /dev/ttyAMA0; do
    [ -c "$tty" ] && echo "casthouse-sample: boot failed: $1" >"$tty" 2>/dev/null
  done
  sleep 1
  poweroff -f
}

mkdir -p /facts /layers/base
mount -t squashfs -o loop,ro /rootfs.sqsh /layers/base || fail "rootfs.sqsh cannot be mounted"

# One line "image name version" for each layer; the first name and version after an image are those of its metadata.
read_layers() {
  awk '
    function value(line) { sub(/^[^:]*:[ ]*/, "", line); gsub(/^["\047]|["\047]$/, "", line); return line }
    /^ *- image:/ { match($0, /^ */); if (indent == "") indent = RLENGTH
      if (RLENGTH == indent) { image = value($0); name = ""; next } }
    image != "" && name == "" && /^ *name:/ { name = value($0); next }
    image != "" && name != "" && /^ *version:/ { print image, name, value($0); image = "" }
  ' /extensions.yaml
}

# The largest regular file of a layer, the first by name among equals.
largest_file() {
  (cd "$1" && find . -type f -exec stat -c '%s %n' {} + | sed 's/ \.\// /' | sort -k1,1nr -k2 | head -n 1)
}

stack=/layers/base
: >/facts/extensions
if [ -f /extensions.yaml ]; then
  read_layers >/facts/layers
  while read -r image name version; do
    point=/layers/$image
    mkdir -p "$point"
    mount -t squashfs -o loop,ro "/$image" "$point" || fail "layer $image ($name) cannot be mounted"
    stack=$point:$stack
    echo "$image $name $version $(largest_file "$point")" >>/facts/extensions
  done </facts/layers
fi
if [ "$stack" = /layers/base ]; then
  mount --bind /layers/base /root
else
  mount -t overlay overlay -o "ro,lowerdir=$stack" /root || fail "the layers cannot be stacked"
fi

# Firmware stays in the initramfs and is shown in its usual place.
for firmware in /usr/lib/firmware /lib/firmware; do
  [ -d "$firmware" ] && [ -d "/root$firmware" ] && mount --bind "$firmware" "/root$firmware"
done
mount -t tmpfs tmpfs /root/run
mkdir -p /root/run/casthouse /root/run/microcode
cp /facts/extensions /root/run/casthouse/extensions
for blob in /kernel/x86/microcode/*.bin; do
  [ -f "$blob" ] && echo "microcode $blob $(stat -c %s "$blob") $(sha256sum "$blob" | cut -d ' ' -f 1)"
done >/root/run/casthouse/microcode
for point in proc sys dev; do mount --move /$point /root/$point; done
cd /root
mount --move . /
exec chroot . /sbin/init
