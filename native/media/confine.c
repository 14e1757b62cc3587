// Limits that the process sets on itself before it reads untrusted bytes: priority, memory, CPU time, files and system
// calls. The process also ends when its parent ends. Landlock and seccomp are the parts of the Linux kernel that limit
// files and system calls. If the kernel lacks one of them, the process runs without this protection, and the server
// logs this when it starts.

#include "confine.h"
#include <errno.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define MACHINE AUDIT_ARCH_AARCH64
#endif

// Sets a limit of this process. If a value is above the present hard limit, the hard limit is used, because a process
// cannot raise it.
static void limit_resource(int which, rlim_t soft, rlim_t hard)
{
    struct rlimit present;
    if (getrlimit(which, &present) != 0)
        fail("a limit cannot be read");
    struct rlimit wanted = {soft < present.rlim_max ? soft : present.rlim_max,
                            hard < present.rlim_max ? hard : present.rlim_max};
    if (setrlimit(which, &wanted) != 0)
        fail("a limit cannot be set");
}

static rlim_t whole_seconds(int64_t ms)
{
    return (rlim_t)((ms + 999) / 1000);
}

// Sets the limit of CPU time. The kernel sends SIGXCPU, which ends the process, when the process has used `soft_ms`.
// `cpu_ms` is the limit for the whole process. While the file is opened, `soft_ms` is lower, because a file with very
// many tags could make the opening take minutes. A second call then raises `soft_ms` to `cpu_ms`.
void limit_cpu(int64_t soft_ms, int64_t cpu_ms)
{
    // The kernel sends SIGKILL at the hard limit, and SIGXCPU at the soft limit. Only SIGXCPU tells the server that the
    // CPU time was used up, so the soft limit must be lower.
    limit_resource(RLIMIT_CPU, whole_seconds(soft_ms < cpu_ms ? soft_ms : cpu_ms), whole_seconds(cpu_ms) + 1);
}

// Asks the kernel to kill this process when its parent ends.
static void die_with_parent(pid_t parent)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        fail("the signal of the parent cannot be set");
    // If the parent ended before this call, the kernel sends no signal. This process then has another parent.
    if (getppid() != parent)
        _exit(1);
}

// Takes all capabilities from this process. (Linux divides the rights of root into capabilities.) A process without
// them may use Landlock and seccomp only after PR_SET_NO_NEW_PRIVS, so this function sets it too.
static void drop_privileges(void)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[2] = {{0}};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    syscall(SYS_capset, &header, none);
}

// Denies four things by Landlock: access to files by their path, TCP, connections to abstract sockets of other
// processes, and signals to other processes. If this kernel does not support one of them, only the others are denied.
static void deny_files(void)
{
    struct {
        uint64_t files, tcp, scopes;
    } rules = {0x7fff, 3, 3};
    // The bits of the rights on files in each version of Landlock. A kernel refuses bits that it does not know. Version
    // 5 added the right of device operations (ioctl).
    static const uint64_t known_files[] = {0, 0x1fff, 0x3fff, 0x7fff, 0x7fff, 0xffff};
    const long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (version <= 0)
        return;
    rules.files = known_files[version < 5 ? version : 5];
    // Older versions of Landlock have fewer fields. A kernel refuses `rules` with fields that it does not know.
    const size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
    const int set = (int)syscall(SYS_landlock_create_ruleset, &rules, size, 0);
    if (set < 0)
        return;
    syscall(SYS_landlock_restrict_self, set, 0);
    close(set);
}

#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (offset))
#define LOAD_ARGUMENT(index) LOAD(offsetof(struct seccomp_data, args) + 8 * (index))
#define ANSWER(answer) BPF_STMT(BPF_RET | BPF_K, (answer))
#define UNLESS_EQUAL_SKIP(value, count) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (count))
#define ALLOW(call) UNLESS_EQUAL_SKIP((call), 1), ANSWER(SECCOMP_RET_ALLOW)
#define DENIED (SECCOMP_RET_ERRNO | EPERM)
// Allows a call whose protection argument does not ask for executable memory.
#define ALLOW_DATA(call)                                                                                               \
    UNLESS_EQUAL_SKIP((call), 4), LOAD_ARGUMENT(2), BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),             \
        ANSWER(DENIED), ANSWER(SECCOMP_RET_ALLOW)
// Allows a call whose first argument is 0, which means the process itself.
#define ALLOW_OWN(call)                                                                                                \
    UNLESS_EQUAL_SKIP((call), 4), LOAD_ARGUMENT(0), UNLESS_EQUAL_SKIP(0, 1), ANSWER(SECCOMP_RET_ALLOW), ANSWER(DENIED)

// Allows the system calls that FFmpeg needs to read stdin, to write stdout and to use memory. Every other call fails
// with EPERM. Memory cannot become executable, and `prlimit` works only for this process itself.
static void deny_calls(void)
{
    struct sock_filter program[] = {
        LOAD(offsetof(struct seccomp_data, arch)),
        UNLESS_EQUAL_SKIP(MACHINE, 1),
        BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0),
        ANSWER(SECCOMP_RET_KILL_PROCESS),
        LOAD(offsetof(struct seccomp_data, nr)),
        ALLOW(SYS_pread64),
        ALLOW(SYS_write),
        ALLOW(SYS_fstat),
        ALLOW(SYS_munmap),
        ALLOW(SYS_mremap),
        ALLOW(SYS_madvise),
        ALLOW(SYS_brk),
        ALLOW(SYS_clock_gettime),
        ALLOW(SYS_rt_sigreturn),
        ALLOW(SYS_rt_sigprocmask),
        ALLOW(SYS_exit),
        ALLOW(SYS_exit_group),
        ALLOW_DATA(SYS_mmap),
        ALLOW_DATA(SYS_mprotect),
        ALLOW_OWN(SYS_prlimit64),
        ANSWER(DENIED),
    };
    struct sock_fprog filter = {sizeof program / sizeof *program, program};
    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter);
}

void confine(const Confinement *limits)
{
    setpriority(PRIO_PROCESS, 0, (int)limits->priority);
    die_with_parent((pid_t)limits->parent);
    limit_cpu(limits->open_cpu_ms, limits->cpu_ms);
    limit_resource(RLIMIT_FSIZE, 0, 0);
    limit_resource(RLIMIT_CORE, 0, 0);
    limit_resource(RLIMIT_DATA, (rlim_t)limits->memory_bytes, (rlim_t)limits->memory_bytes);
    // Closes all descriptors except stdin, stdout and stderr.
    syscall(SYS_close_range, 3, ~0U, 0);
    drop_privileges();
    deny_files();
    deny_calls();
}
