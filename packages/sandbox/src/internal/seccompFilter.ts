/**
 * The system calls that nothing in the box may make, as a program for the kernel's filter.
 *
 * Guarantees: no sockets but those of the internet (and the kernel's own netlink), no tracing, mounting, key rings,
 * kernel modules or rings of asynchronous calls, whichever way the number is spelled on this machine; and no signals to
 * the first process ids, which are the hand's.
 * Does not list what is allowed: a shell and its tools need most calls. Other machines than x64 and arm64 get none.
 */

interface Numbers {
  readonly audit: number
  readonly denied: ReadonlyArray<number>
  readonly socket: number
  readonly ioctl: number
  readonly fcntl: number
  /** Calls whose first argument names a process or thread: signals, limits, scheduling. */
  readonly byFirst: ReadonlyArray<number>
  /** Calls whose second argument does. */
  readonly bySecond: ReadonlyArray<number>
  /** Numbers from here on belong to another way of calling. */
  readonly from?: number
}

/**
 * Process and thread ids from 1 to this one belong to the box's first process and to the hand. The hand sees to it that
 * its threads have them, and that no command does.
 */
export const reservedIds = 16

/** The same on both: asynchronous rings and pidfd_send_signal, which programs do without; new mount calls, pidfd_getfd. */
const missing = [424, 425, 426, 427]
const common = [428, 429, 430, 431, 432, 433, 438, 442]

// Numbers of linux/unistd.h, in this order: ptrace, process_vm_readv, process_vm_writev, keyctl, add_key, request_key,
// bpf, perf_event_open, userfaultfd, mount, umount2, pivot_root, setns, unshare, kexec_load, kexec_file_load,
// init_module, finit_module, delete_module, open_by_handle_at, name_to_handle_at, swapon, swapoff, acct, syslog,
// quotactl, chroot, and on x64 iopl and ioperm.
// `byFirst`: kill, tkill, tgkill, rt_sigqueueinfo, rt_tgsigqueueinfo, prlimit64, sched_setparam, sched_setscheduler,
// sched_setaffinity, sched_setattr. `bySecond`: setpriority, ioprio_set.
const machines: Readonly<Record<string, Numbers>> = {
  x64: {
    audit: 0xc000003e,
    denied: [
      101, 310, 311, 250, 248, 249, 321, 298, 323, 165, 166, 155, 308, 272, 246, 320, 175, 313, 176, 304, 303, 167, 168,
      163, 103, 179, 161, 172, 173
    ],
    socket: 41,
    ioctl: 16,
    fcntl: 72,
    byFirst: [62, 200, 234, 129, 297, 302, 142, 144, 203, 314],
    bySecond: [141, 251],
    from: 0x40000000
  },
  arm64: {
    audit: 0xc00000b7,
    denied: [
      117, 270, 271, 219, 217, 218, 280, 241, 282, 40, 39, 41, 268, 97, 104, 294, 105, 273, 106, 265, 264, 224, 225, 89,
      116, 60, 51
    ],
    socket: 198,
    ioctl: 29,
    fcntl: 25,
    byFirst: [129, 130, 131, 138, 240, 261, 118, 119, 122, 274],
    bySecond: [140, 30]
  }
}

const loadWord = 0x20
const jumpEqual = 0x15
const jumpFrom = 0x35
const give = 0x06

const allow = 0x7fff0000
const refuse = (errno: number): number => 0x00050000 | errno
const EPERM = 1
const ENOSYS = 38
const EAFNOSUPPORT = 97

const offsetOf = { number: 0, machine: 4, firstArgument: 16, secondArgument: 24 } as const
const families = { unix: 1, inet: 2, inet6: 10, netlink: 16 } as const
/** Putting characters into a terminal's input, TIOCSTI and TIOCLINUX; having signals sent, FIOSETOWN and SIOCSPGRP. */
const ioctlTricks = [0x5412, 0x541c, 0x8901, 0x8902]
/** The same by F_SETOWN, F_SETSIG and F_SETOWN_EX. */
const fcntlTricks = [8, 10, 15]

type Step = readonly [code: number, ifSo: number, ifNot: number, value: number]

/** `undefined` for a machine that there are no numbers for. */
export const seccompFilter = (
  machine: string,
  { unixSockets }: { readonly unixSockets: boolean }
): Buffer | undefined => {
  const numbers = Object.hasOwn(machines, machine) ? machines[machine] : undefined
  if (numbers === undefined) return undefined
  const allowed = [families.inet, families.inet6, families.netlink, ...(unixSockets ? [families.unix] : [])]
  const steps: ReadonlyArray<Step> = [
    [loadWord, 0, 0, offsetOf.machine],
    ...unless(numbers.audit, refuse(ENOSYS)),
    [loadWord, 0, 0, offsetOf.number],
    ...(numbers.from === undefined
      ? []
      : [[jumpFrom, 0, 1, numbers.from] as const, [give, 0, 0, refuse(ENOSYS)] as const]),
    ...[...numbers.denied, ...common].flatMap((number) => when(number, refuse(EPERM))),
    ...missing.flatMap((number) => when(number, refuse(ENOSYS))),
    // A block is left out as a whole where the number is another.
    ...block(numbers.socket, [
      [loadWord, 0, 0, offsetOf.firstArgument],
      ...allowed.flatMap((family) => when(family, allow)),
      [give, 0, 0, refuse(EAFNOSUPPORT)]
    ]),
    ...numbers.byFirst.flatMap((number) => block(number, spareHand(offsetOf.firstArgument))),
    ...numbers.bySecond.flatMap((number) => block(number, spareHand(offsetOf.secondArgument))),
    ...[[numbers.ioctl, ioctlTricks] as const, [numbers.fcntl, fcntlTricks] as const].flatMap(([number, tricks]) =>
      block(number, [
        [loadWord, 0, 0, offsetOf.secondArgument],
        ...tricks.flatMap((trick) => when(trick, refuse(EPERM))),
        [give, 0, 0, allow]
      ])
    ),
    [give, 0, 0, allow]
  ]
  return encode(steps)
}

const when = (value: number, answer: number): ReadonlyArray<Step> => [
  [jumpEqual, 0, 1, value],
  [give, 0, 0, answer]
]

const unless = (value: number, answer: number): ReadonlyArray<Step> => [
  [jumpEqual, 1, 0, value],
  [give, 0, 0, answer]
]

const block = (value: number, steps: ReadonlyArray<Step>): ReadonlyArray<Step> => [
  [jumpEqual, 0, steps.length, value],
  ...steps
]

/**
 * Refuses the reserved ids, the same as negative numbers (groups), and -1 (everybody); 0 is the caller itself. Only the low
 * half of the argument counts, as for the kernel.
 */
const spareHand = (argument: number): ReadonlyArray<Step> => [
  [loadWord, 0, 0, argument],
  ...when(0, allow),
  [jumpFrom, 0, 1, 0x1_0000_0000 - reservedIds],
  [give, 0, 0, refuse(EPERM)],
  [jumpFrom, 1, 0, reservedIds + 1],
  [give, 0, 0, refuse(EPERM)],
  [give, 0, 0, allow]
]

/** struct sock_filter, little-endian on both machines. */
const encode = (steps: ReadonlyArray<Step>): Buffer => {
  const bytes = Buffer.alloc(steps.length * 8)
  for (const [index, [code, ifSo, ifNot, value]] of steps.entries()) {
    bytes.writeUInt16LE(code, index * 8)
    bytes.writeUInt8(ifSo, index * 8 + 2)
    bytes.writeUInt8(ifNot, index * 8 + 3)
    bytes.writeUInt32LE(value, index * 8 + 4)
  }
  return bytes
}
