// Simulates a media program that an attacker controls. The process confines itself as the media program does. Then it
// attempts every forbidden action, and prints the outcome of each attempt.

#include "checks.h"
#include "confine.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static char report[16 * 1024];
static size_t length;

static void add(const char *name, long answer)
{
    // A refused call returns -1. All other results mean success: mmap returns an address, and pread returns a count.
    length += (size_t)snprintf(report + length, sizeof report - length, "%s\"%s\":\"%s\"", length > 1 ? "," : "", name,
                               answer == -1 ? "refused" : "done");
}

// Makes a system call with up to six arguments and adds its outcome to the report.
#define TRY(name, ...) add(name, syscall(__VA_ARGS__, 0, 0, 0, 0))

static char secret[512], media[512], created[512];
static struct sockaddr_in server;
static uint64_t room[64];

static void try_files(const char *folder)
{
    TRY("openat", SYS_openat, AT_FDCWD, secret, O_RDONLY);
    TRY("openat to create", SYS_openat, AT_FDCWD, created, O_CREAT | O_WRONLY, 0600);
    TRY("openat of /", SYS_openat, AT_FDCWD, "/", O_RDONLY | O_DIRECTORY);
    TRY("openat of the own file", SYS_openat, AT_FDCWD, "/proc/self/fd/0", O_RDONLY);
    TRY("openat of /proc", SYS_openat, AT_FDCWD, "/proc/self/environ", O_RDONLY);
    TRY("openat2", SYS_openat2, AT_FDCWD, secret, room, 24);
    TRY("truncate", SYS_truncate, media, 0);
    TRY("ftruncate", SYS_ftruncate, 0, 0);
    TRY("pwrite", SYS_pwrite64, 0, "x", 1, 0);
    TRY("renameat2", SYS_renameat2, AT_FDCWD, media, AT_FDCWD, created, 0);
    TRY("unlinkat", SYS_unlinkat, AT_FDCWD, media, 0);
    TRY("linkat", SYS_linkat, AT_FDCWD, secret, AT_FDCWD, created, 0);
    TRY("symlinkat", SYS_symlinkat, "/etc/passwd", AT_FDCWD, created);
    TRY("mkdirat", SYS_mkdirat, AT_FDCWD, created, 0700);
    TRY("mknodat", SYS_mknodat, AT_FDCWD, created, S_IFIFO | 0600, 0);
    TRY("fchmodat", SYS_fchmodat, AT_FDCWD, secret, 0777, 0);
    TRY("fchmod", SYS_fchmod, 0, 0777);
    TRY("fchownat", SYS_fchownat, AT_FDCWD, secret, 1, 1, 0);
    TRY("utimensat", SYS_utimensat, AT_FDCWD, secret, NULL, 0);
    TRY("setxattr", SYS_setxattr, secret, "user.a", "b", 1, 0);
    TRY("readlinkat", SYS_readlinkat, AT_FDCWD, "/proc/self/exe", room, sizeof room);
    TRY("newfstatat", SYS_newfstatat, AT_FDCWD, secret, room, 0);
    TRY("statx", SYS_statx, AT_FDCWD, secret, 0, 0x7ff, room);
    TRY("faccessat", SYS_faccessat, AT_FDCWD, secret, 0);
    TRY("getdents64", SYS_getdents64, 0, room, sizeof room);
    TRY("chdir", SYS_chdir, folder);
    TRY("chroot", SYS_chroot, folder);
    TRY("mount", SYS_mount, "none", folder, "tmpfs", 0, NULL);
    TRY("inotify_init1", SYS_inotify_init1, 0);
    TRY("memfd_create", SYS_memfd_create, "x", 0);
    TRY("dup", SYS_dup, 0);
    TRY("fcntl", SYS_fcntl, 1, F_GETFL);
    TRY("ioctl", SYS_ioctl, 2, 0x5412, "x");
#ifdef __x86_64__
    TRY("open", SYS_open, secret, O_RDONLY);
    TRY("creat", SYS_creat, created, 0600);
    TRY("rename", SYS_rename, media, created);
    TRY("unlink", SYS_unlink, media);
    TRY("mkdir", SYS_mkdir, created, 0700);
    TRY("chmod", SYS_chmod, secret, 0777);
    TRY("a call of the x32 interface", 0x40000000 | SYS_openat, AT_FDCWD, secret, O_RDONLY);
#endif
}

static void try_processes(pid_t server_pid)
{
    TRY("kill", SYS_kill, server_pid, 0);
    TRY("tgkill", SYS_tgkill, server_pid, server_pid, 0);
    TRY("pidfd_open", SYS_pidfd_open, server_pid, 0);
    TRY("setpriority", SYS_setpriority, PRIO_PROCESS, server_pid, 19);
    TRY("sched_setaffinity", SYS_sched_setaffinity, server_pid, 8, room);
    TRY("prlimit of the server", SYS_prlimit64, server_pid, RLIMIT_NOFILE, NULL, room);
    TRY("ptrace", SYS_ptrace, 16, server_pid, 0, 0);
    struct iovec part = {room, 8};
    TRY("process_vm_readv", SYS_process_vm_readv, server_pid, &part, 1, &part, 1, 0);
    TRY("process_vm_writev", SYS_process_vm_writev, server_pid, &part, 1, &part, 1, 0);
    TRY("execve", SYS_execve, "/bin/sh", NULL, NULL);
    TRY("execveat", SYS_execveat, AT_FDCWD, "/bin/sh", NULL, NULL, 0);
    long child = syscall(SYS_clone, 17, 0, 0, 0, 0);
    if (child == 0)
        _exit(0);
    add("fork", child);
    TRY("clone3", SYS_clone3, room, 88);
    TRY("clone of a thread", SYS_clone, CLONE_VM | CLONE_THREAD | CLONE_SIGHAND, 0);
    TRY("unshare", SYS_unshare, CLONE_NEWUSER);
    TRY("setns", SYS_setns, 0, 0);
    TRY("outlive the server", SYS_prctl, 1, 0);
    TRY("become dumpable", SYS_prctl, 4, 1);
    TRY("setuid", SYS_setuid, 0);
    TRY("capset", SYS_capset, room, room);
    TRY("bpf", SYS_bpf, 0, room, 64);
    TRY("io_uring_setup", SYS_io_uring_setup, 1, room);
    TRY("perf_event_open", SYS_perf_event_open, room, 0, -1, -1, 0);
    TRY("userfaultfd", SYS_userfaultfd, 0);
    TRY("keyctl", SYS_keyctl, 0, 0);
    TRY("seccomp", SYS_seccomp, 0, 0, NULL);
    TRY("a call of the future", 1000);
    TRY("executable memory", SYS_mmap, NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    TRY("memory made executable", SYS_mprotect, (uintptr_t)room & ~4095UL, 4096, PROT_READ | PROT_EXEC);
}

static void try_network(void)
{
    TRY("TCP socket", SYS_socket, AF_INET, SOCK_STREAM, 0);
    TRY("UDP socket", SYS_socket, AF_INET, SOCK_DGRAM, 0);
    TRY("IPv6 socket", SYS_socket, AF_INET6, SOCK_STREAM, 0);
    TRY("unix socket", SYS_socket, AF_UNIX, SOCK_STREAM, 0);
    TRY("netlink socket", SYS_socket, AF_NETLINK, SOCK_RAW, 0);
    TRY("socketpair", SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, room);
    // The descriptors 3 and 4 are sockets that were opened before the process was confined. Now they must be unusable.
    TRY("connect", SYS_connect, 3, &server, sizeof server);
    TRY("sendto", SYS_sendto, 4, "x", 1, 0, &server, sizeof server);
    TRY("shmget", SYS_shmget, 0x5354, 4096, 01600);
    TRY("msgget", SYS_msgget, 0x5354, 01600);
    TRY("mq_open", SYS_mq_open, "/steno", O_CREAT | O_RDWR, 0600, NULL);
}

int check_escape(pid_t parent, const char *folder, int port)
{
    snprintf(secret, sizeof secret, "%s/secret.key", folder);
    snprintf(media, sizeof media, "%s/media/video", folder);
    snprintf(created, sizeof created, "%s/new", folder);
    server.sin_family = AF_INET;
    server.sin_port = htons((uint16_t)port);
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socket(AF_INET, SOCK_STREAM, 0);
    socket(AF_INET, SOCK_DGRAM, 0);
    confine(&(Confinement){parent, 0, 60000, 60000, 1 << 28});
    report[length++] = '{';
    try_files(folder);
    try_processes(parent);
    try_network();
    // Reading stdin must stay possible. So this entry is reversed: it is "refused" if the read succeeds. Every entry of
    // a good report is then "refused".
    add("read stdin", pread(0, room, 1, 0) == -1 ? 0 : -1);
    report[length++] = '}';
    return write(1, report, length) == (ssize_t)length ? 0 : 1;
}
