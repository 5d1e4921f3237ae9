/*
 * What a guest of ours runs before the job: no systemd, no udev; from the kernel's hand-over to sshd in a fraction of a
 * second under emulation. Each file here goes into the rootfs image or the initrd as it stands.
 */

/** /sbin/init of the rootfs. busybox does each step, as its applets start fastest. */
export const INIT = `#!/bin/busybox sh
b=/bin/busybox
$b mount -t proc proc /proc
$b mount -t sysfs sys /sys
[ -c /dev/null ] || $b mount -t devtmpfs dev /dev
$b mkdir -p /dev/pts /dev/shm
$b mount -t devpts devpts /dev/pts
$b mount -t tmpfs -o mode=1777 tmp /dev/shm
$b mount -t tmpfs -o mode=1777 tmp /tmp
$b mount -t tmpfs -o mode=755 run /run
$b mount -t cgroup2 cgroup2 /sys/fs/cgroup
$b mkdir -p /run/sshd
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
[ -b /dev/vdb ] && $b mount -t ext4 -o ro /dev/vdb /lib/modules
[ -d /sys/class/net/eth0 ] || modprobe virtio_net
$b hostname kdelta-guest
$b ifconfig lo 127.0.0.1 up
$b ifconfig eth0 10.0.2.15 netmask 255.255.255.0 up
read -r up rest </proc/uptime
echo "kdelta-init: up $up"
exec /usr/sbin/sshd -D -e
`;

/** /init of the initrd, for kernels whose disk or network driver is a module. */
export const INITRD_INIT = `#!/bin/busybox sh
b=/bin/busybox
$b mount -t devtmpfs dev /dev
while read -r module; do $b insmod "/modules/$module"; done </modules/order
n=0
while [ ! -b /dev/vda ] && [ $n -lt 100 ]; do $b usleep 20000; n=$((n + 1)); done
$b mount -t ext4 -o rw,noinit_itable /dev/vda /root || echo "kdelta-initrd: no root file system on /dev/vda"
exec $b switch_root /root /sbin/init
`;

/** The guest gets kdelta's public client key and a host key of its own, which is pinned. */
export const SSHD_CONFIG = `Port 22
AddressFamily inet
HostKey /etc/ssh/kdelta_host_key
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
GSSAPIAuthentication no
UsePAM no
UseDNS no
X11Forwarding no
AllowAgentForwarding no
AllowTcpForwarding no
PrintMotd no
PrintLastLog no
MaxSessions 30
PidFile none
`;

/** Packages without which no guest works. */
export const BASE_PACKAGES = ['busybox-static', 'kmod', 'openssh-server'];

/** Drivers a guest needs before its root file system is there, with the option that builds each in. */
export const BOOT_DRIVERS: { module: string; option: string }[] = [
  { module: 'virtio_pci', option: 'CONFIG_VIRTIO_PCI' },
  { module: 'virtio_blk', option: 'CONFIG_VIRTIO_BLK' },
  { module: 'ext4', option: 'CONFIG_EXT4_FS' },
  { module: 'virtio_net', option: 'CONFIG_VIRTIO_NET' },
];
