import * as fs from "node:fs"
import * as path from "node:path"
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest"
import { makeWorld, secret, type World } from "./world.js"

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 })

let world: World
beforeAll(async () => {
  world = await makeWorld()
})
afterAll(() => world.close())

/** Whatever was tried, the host is as it was. */
afterEach(() => {
  const { base, reached, victim } = world
  const names = [...fs.readdirSync(base), ...fs.readdirSync(path.join(base, "outside"))].sort()
  const kept = fs.readFileSync(path.join(base, "outside/secret"), "utf8")
  const harm = {
    names: names.join() === "outside,secret,workspace",
    kept: kept === secret,
    reached: reached.length === 0,
    victim: victim.exitCode === null
  }
  if (Object.values(harm).includes(false)) throw new Error(`the host was harmed: ${JSON.stringify(harm)}`)
})

const filled = (command: string): string =>
  command
    .replaceAll("BASE", world.base)
    .replaceAll("PORT", String(world.port))
    .replaceAll("VICTIM", String(world.victim.pid))

/** What a command gave away: the secret, or its own word that it got through. */
const leaks = async (command: string): Promise<ReadonlyArray<string>> => {
  const text = await world.bash(filled(command))
  return [secret, "GOT THROUGH"].filter((one) => text.includes(one))
}

describe("files", () => {
  it.each([
    ["the path of a secret", "cat BASE/outside/secret"],
    ["a link that was there before", "cat out/secret"],
    ["a link that is made inside", "ln -s BASE/outside/secret l; cat l; rm l"],
    ["parents of the workspace", "cat ../outside/secret; ls BASE | grep outside && echo GOT THROUGH"],
    ["writing through a link", "echo x > out/new && echo GOT THROUGH"],
    ["writing beside the workspace", "echo x > ../new && echo GOT THROUGH"],
    [
      "a hard link out of the workspace",
      "ln /etc/passwd p 2>&1 && echo GOT THROUGH; ln /usr/bin/env e && echo GOT THROUGH"
    ],
    ["moving the workspace away", "mv ../workspace ../moved && echo GOT THROUGH"],
    [
      "the host's home",
      "ls -A BASE/.. /home | grep -v attack- | grep -vx $(basename $(dirname BASE)) | grep -v '^$' | grep -v : && echo GOT THROUGH"
    ],
    ["the host's /etc", "cat /etc/shadow /etc/hostname /etc/ssh/* && echo GOT THROUGH"],
    ["the host's /tmp", "ls /tmp | grep -v '^$' | grep toolwright-box && echo GOT THROUGH"],
    ["the host's /var and /run", "ls /var /run && echo GOT THROUGH"],
    ["the system's programs", "echo x > /usr/bin/env && echo GOT THROUGH; touch /usr/lib/x && echo GOT THROUGH"],
    ["the root of the box", "touch /x && echo GOT THROUGH; mkdir /y && echo GOT THROUGH"],
    [
      "the code that other hands start from",
      "echo x > /etc/toolwright-code && echo GOT THROUGH; rm -f /etc/toolwright-code && echo GOT THROUGH"
    ],
    ["the lists of users", "echo root::0:0::/:/bin/sh >> /etc/passwd && echo GOT THROUGH"],
    ["a bind mount", "mount --bind / src && echo GOT THROUGH"],
    ["a remount", "mount -o remount,rw /usr && echo GOT THROUGH"],
    ["unmounting", "umount /usr && echo GOT THROUGH; umount -l /tmp && echo GOT THROUGH"],
    ["a device node", "mknod disk b 254 0 && echo GOT THROUGH; mknod mem c 1 1 && echo GOT THROUGH"],
    [
      "disks and memory as devices",
      "ls /dev/vd* /dev/sd* /dev/nvme* /dev/mem /dev/kmem /dev/kvm /dev/fuse /dev/loop0 2>/dev/null | grep . && echo GOT THROUGH"
    ],
    ["new devices in /dev", "touch /dev/x && echo GOT THROUGH"],
    [
      "set-id programs",
      "cp /bin/bash b && chmod u+s b && ./b -p -c 'cat BASE/outside/secret'; rm -f b; su -c id </dev/null && echo GOT THROUGH"
    ],
    ["capabilities", "grep -E 'Cap(Eff|Prm|Bnd):\\s*0*[1-9a-f]' /proc/self/status && echo GOT THROUGH"],
    ["gaining privileges", "grep -q 'NoNewPrivs:\\s*1' /proc/self/status || echo GOT THROUGH"],
    ["changing the root", "chroot . /bin/sh -c 'echo GOT THROUGH'"]
  ])("%s", async (_, command) => {
    expect(await leaks(command)).toEqual([])
  })

  it("git's hooks and configuration, which run programs outside, stay as they are", async () => {
    expect(
      await leaks(
        "echo 'echo x' > .git/hooks/pre-commit && echo GOT THROUGH; echo '[core] fsmonitor=x' >> .git/config && echo GOT THROUGH"
      )
    ).toEqual([])
    expect(
      await leaks(
        "mv .git .g && echo GOT THROUGH; mv .git/hooks .git/h && echo GOT THROUGH; rm -rf .git && echo GOT THROUGH"
      )
    ).toEqual([])
    expect(fs.readdirSync(path.join(world.workspace, ".git/hooks"))).toEqual([])
    expect(fs.readFileSync(path.join(world.workspace, ".git/config"), "utf8")).toBe("[core]\n")
  })

  it("the hand's own program and registry cannot be changed from inside", async () => {
    expect(
      await leaks(
        "for f in $(tr '\\0' ' ' < /proc/2/cmdline); do test -f \"$f\" && echo x >> \"$f\" && echo GOT THROUGH; done; true"
      )
    ).toEqual([])
  })

  it("swapping a folder for a link while the file tools work never reaches outside", async () => {
    const racing = "for i in $(seq 300); do mv src x; ln -s BASE/outside src; rm src; mv x src; done"
    const swaps = world.bash(racing.replaceAll("BASE", world.base))
    const texts = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        world.call(
          index % 2 === 0 ? "read" : "grep",
          index % 2 === 0 ? { file_path: "src/secret" } : { pattern: "secret", path: "src" }
        )
      )
    )
    await swaps
    expect(texts.filter((text) => text.includes(secret))).toEqual([])
  })

  it("a file in /tmp of the box is not one of the host", async () => {
    await world.bash("echo x > /tmp/toolwright-attack-probe")
    expect(fs.existsSync("/tmp/toolwright-attack-probe")).toBe(false)
  })
})

describe("/proc", () => {
  it.each([
    [
      "the host's processes",
      "cat /proc/VICTIM/cmdline 2>/dev/null | grep sleep && echo GOT THROUGH; ls /proc | grep -c '^[0-9]' | awk '$1 > 12 { print \"GOT THROUGH\" }'"
    ],
    ["the environment of the parent", "cat /proc/*/environ | tr '\\0' '\\n' | grep HOST_SECRET && echo GOT THROUGH"],
    ["the root of another process", "ls /proc/1/root/BASE/outside /proc/2/root/BASE/outside && echo GOT THROUGH"],
    [
      "folders that others hold open",
      "for f in /proc/[0-9]*/fd/*; do cat $f/secret $f/../outside/secret 2>/dev/null; done; for f in /proc/[0-9]*/cwd; do cat $f/../outside/secret; done"
    ],
    [
      "the pattern of core dumps",
      "cat /proc/sys/kernel/core_pattern > /tmp/was; cat /tmp/was > /proc/sys/kernel/core_pattern && echo GOT THROUGH"
    ],
    [
      "the kernel's switches",
      "for f in /proc/sys/kernel/modprobe /proc/sys/vm/overcommit_memory /proc/sys/fs/file-max; do cat $f > /tmp/was 2>/dev/null && cat /tmp/was > $f && echo GOT THROUGH; done; true"
    ],
    ["the magic key", "echo h > /proc/sysrq-trigger && echo GOT THROUGH"],
    ["the kernel's memory", "head -c 1 /proc/kcore && echo GOT THROUGH; cat /proc/kmsg </dev/null & sleep 0.2; true"],
    ["more user namespaces", "unshare -r echo GOT THROUGH; unshare -Urm sh -c 'echo GOT THROUGH'"],
    ["namespaces of others", "nsenter -t 1 -m -u -i -n -p echo GOT THROUGH"],
    ["kernel modules", "insmod x.ko && echo GOT THROUGH; modprobe loop && echo GOT THROUGH"],
    ["control groups and /sys", "ls /sys/fs/cgroup && echo GOT THROUGH; mkdir /sys/x && echo GOT THROUGH"]
  ])("%s", async (_, command) => {
    expect(await leaks(command)).toEqual([])
  })

  it("the arguments and environment of the sandbox do not show on the host", async () => {
    const closed = await makeWorld({ environment: { TOKEN: "given-to-the-box" } })
    try {
      expect(await closed.bash("echo $TOKEN")).toBe("given-to-the-box")
      const lines = fs.readdirSync("/proc").flatMap((pid) => {
        try {
          return /^\d+$/.test(pid) ? [fs.readFileSync(`/proc/${pid}/cmdline`, "utf8")] : []
        } catch {
          return []
        }
      })
      expect(lines.filter((line) => line.includes("given-to-the-box"))).toEqual([])
    } finally {
      await closed.close()
    }
  })
})

describe("processes", () => {
  it.each([
    ["a signal to a process of the host", "kill -9 VICTIM && echo GOT THROUGH"],
    ["a signal to everything", "kill -9 -- -1"],
    ["a signal to the parent", "kill -9 $PPID"]
  ])("%s", async (_, command) => {
    expect(await leaks(command)).toEqual([])
    expect(await world.call("read", { file_path: "src/a.txt" })).toBe("1\tinside")
  })

  it("descriptors of the runtime are not inherited", async () => {
    // Its own three and the one that the shell tells its folder through; 255 is bash's own.
    const open = await world.bash("sleep 1 & for f in /proc/$!/fd/*; do echo ${f##*/}; done")
    expect(open.split("\n").filter((one) => !["0", "1", "2", "3", "255"].includes(one))).toEqual([])
  })

  it("writing into the hand's answers from a command is not possible", async () => {
    const text = await world.bash(
      "for p in 1 2; do for f in /proc/$p/fd/[0-9]*; do printf '\\0\\0\\0\\2{}' > $f && echo wrote $f; done; done 2>&1 | grep -E 'wrote /proc/2/fd/1$'; true"
    )
    expect(text).not.toContain("wrote")
    expect(await world.call("read", { file_path: "src/a.txt" })).toBe("1\tinside")
  })

  // The hand is the box's second process; where a command ends or fools it, its thread loses its calls.
  it.each([
    ["a signal to it", "kill -9 2 && echo GOT THROUGH; kill -STOP 2 && echo GOT THROUGH"],
    ["a signal to one of its threads", "for t in $(ls /proc/2/task); do kill -9 $t && echo GOT THROUGH; done"],
    ["a signal to its group, or to everybody", "kill -9 -- -2 && echo GOT THROUGH; kill -9 -- -1 && echo GOT THROUGH"],
    ["a signal to the box's first process", "kill -9 1 && echo GOT THROUGH"],
    [
      "a signal through a file",
      'perl -e \'pipe(R, W); fcntl(R, 8, 2) and print "GOT THROUGH"; fcntl(R, 10, 9) and print "GOT THROUGH"\''
    ],
    ["a limit", "prlimit --pid 2 --cpu=1 && echo GOT THROUGH"],
    [
      "its turn",
      "renice 19 2 && echo GOT THROUGH; taskset -p 1 2 && echo GOT THROUGH; chrt -i -p 0 2 && echo GOT THROUGH"
    ],
    [
      "reading its memory",
      "head -c 1 /proc/2/mem 2>&1 | grep -q denied || echo GOT THROUGH; cat /proc/2/maps && echo GOT THROUGH"
    ],
    ["its environment", "cat /proc/2/environ && echo GOT THROUGH"],
    [
      "its files",
      "for f in /proc/2/fd/*; do cat $f < /dev/null && echo GOT THROUGH; readlink $f && echo GOT THROUGH; done; ls /proc/2/root/ /proc/2/cwd/ && echo GOT THROUGH"
    ],
    [
      "the copy of the loader that closes it",
      "cat /etc/toolwright-loader && echo GOT THROUGH; chmod +r /etc/toolwright-loader && echo GOT THROUGH"
    ]
  ])("a command does not get at its own hand by %s", async (_, command) => {
    const started = "cut -d ' ' -f 22 /proc/2/stat"
    const before = await world.bash(started)
    expect(await leaks(command)).toEqual([])
    expect(await world.bash(started)).toBe(before)
  })

  it("every thread of a hand has an id that nothing in the box may signal", async () => {
    await Promise.all(Array.from({ length: 20 }, () => world.call("grep", { pattern: "inside" })))
    const ids = (await world.bash("ls /proc/2/task")).split("\n").map(Number)
    expect([Math.max(...ids), ids.length]).toEqual([16, 15])
    expect(Number(await world.bash("echo $$"))).toBeGreaterThan(16)
  })

  it("tracing the hand is refused", async () => {
    expect(
      await leaks(
        "command -v gdb >/dev/null && timeout 10 gdb -batch -nx -p 2 2>&1 | grep -E 'in \\?\\?|New LWP' && echo GOT THROUGH; grep -qE 'Seccomp:\\s*2' /proc/self/status || echo GOT THROUGH"
      )
    ).toEqual([])
  })

  it.each([
    ["in the background", "sleep 77001 & true", "77001"],
    ["in a new session", "setsid sleep 77002 & true", "77002"],
    ["by a double fork", "( ( setsid nohup sleep 77003 >/dev/null 2>&1 & ) & ); true", "77003"],
    ["without its environment", "env -i setsid /bin/sleep 77004 & true", "77004"],
    ["deaf to signals", "( trap '' TERM INT HUP; sleep 77005 ) & true", "77005"]
  ])("a process does not outlive its command %s", async (_, command, mark) => {
    await world.bash(command)
    expect(processesOf(mark)).toEqual([])
  })

  it("a process that forks without end is ended, and the sandbox goes on", async () => {
    expect(await world.bash(":(){ :|:& };:; sleep 30", 30_000)).toMatch(/too many processes|fork|Resource/)
    expect(await world.bash("echo fine")).toContain("fine")
  })
})

const processesOf = (mark: string): ReadonlyArray<string> =>
  fs.readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(mark)
    } catch {
      return false
    }
  })

describe("network and sockets", () => {
  it.each([
    ["the host's loopback", "timeout 3 bash -c 'echo GET / > /dev/tcp/127.0.0.1/PORT && echo GOT THROUGH'"],
    ["the outside", "timeout 3 bash -c 'echo > /dev/tcp/1.1.1.1/53 && echo GOT THROUGH'"],
    ["the metadata service", "timeout 3 bash -c 'echo > /dev/tcp/169.254.169.254/80 && echo GOT THROUGH'"],
    ["an interface of the host", "cat /proc/net/dev | tail -n +3 | grep -v lo: && echo GOT THROUGH"]
  ])("%s", async (_, command) => {
    expect(await leaks(command)).toEqual([])
  })

  it.each([
    ["a socket that the host left in the workspace", "require('net').connect('host.sock')"],
    ["an abstract socket of the host", "require('net').connect('\\0' + BASE)"],
    ["a local server", "require('net').createServer().listen('own.sock', () => console.log('GOT THROUGH'))"]
  ])("%s", async (_, socket) => {
    const text = await world.node(`const BASE = ${JSON.stringify(world.base)}, s = ${socket}
      s.on("connect", () => console.log("GOT THROUGH")); s.on("data", (d) => console.log(String(d)))
      s.on("error", (e) => console.log(e.code)); setTimeout(() => process.exit(), 500)`)
    expect(text).not.toContain("GOT THROUGH")
    expect(text).not.toContain(secret)
  })

  it("the host's name is not known inside", async () => {
    expect(await world.bash("uname -n")).toBe("sandbox")
  })
})

describe("resources", () => {
  it("memory that grows without end is ended", async () => {
    expect(await world.node("const a = []; for (;;) a.push(Buffer.alloc(5e7, 1))", 60_000)).toMatch(
      /too much memory|Killed|SIGKILL|heap|memory/
    )
    expect(await world.bash("echo fine")).toBe("fine")
  })

  it("/tmp and /dev/shm are small, so that they do not fill the host's memory", async () => {
    expect(
      await world.bash(
        "rm -rf /tmp/*; head -c 400M /dev/zero > /tmp/f; stat -c %s /tmp/f; rm -f /tmp/f; head -c 100M /dev/zero > /dev/shm/f; stat -c %s /dev/shm/f; rm -f /dev/shm/f"
      )
    ).toMatch(/268435456[\s\S]*16777216/)
  })

  it("one file does not grow beyond its bound", async () => {
    const small = await makeWorld({ limits: { fileSize: 20_000_000 } })
    try {
      await small.bash("head -c 100M /dev/zero > big; true")
      expect(fs.statSync(path.join(small.workspace, "big")).size).toBe(20_000_000)
    } finally {
      await small.close()
    }
  })

  it("output without end is ended, and only its ends are kept", async () => {
    const text = await world.bash("yes", 30_000)
    expect(text).toContain("it wrote too much output")
    expect(text.length).toBeLessThan(40_000)
  })

  it("a command without end is ended in time", async () => {
    expect(await world.bash("while :; do :; done", 500)).toContain("timeout of 500 ms")
  })
})

describe("what is shown", () => {
  it.each([
    ["clearing the screen", "printf '\\033[2J\\033[H'"],
    ["the title of the window", "printf '\\033]0;title\\007'"],
    ["the clipboard", "printf '\\033]52;c;ZXZpbA==\\007'"],
    ["answers from the terminal", "printf '\\033[6n\\033[c\\033P$q\\033\\\\'"],
    ["eight-bit controls", "printf '\\xc2\\x9b2J'"],
    ["turned writing", "printf '\\u202eabc'"],
    ["overwriting a line", "printf 'rm -rf\\rls    '"],
    ["names of files", "touch $'a\\033[2Jb'; ls; rm a*"]
  ])("a command does not reach the terminal by %s", async (_, command) => {
    const text = await world.bash(command)
    expect(text.match(/(?![\t\n])\p{Cc}|[\u202a-\u202e]/gu)).toBe(null)
  })

  it("characters cannot be put into the terminal's input", async () => {
    expect(await leaks("test -t 0 && echo GOT THROUGH; (: > /dev/tty) 2>/dev/null && echo GOT THROUGH; true")).toEqual(
      []
    )
  })
})
