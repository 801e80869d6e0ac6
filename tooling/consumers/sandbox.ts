import { probe, Sandbox, SandboxError } from "@toolwright/sandbox"

const probed = probe()
if (!probed.ok && probed.message === "") throw new Error("a probe that fails says why")

const refused = await Sandbox.make({ workspace: "/", tools: [], registry: "none.js" }).then(
  () => undefined,
  (error: unknown) => error
)
if (!(refused instanceof SandboxError)) throw new Error("the whole machine is no workspace")
