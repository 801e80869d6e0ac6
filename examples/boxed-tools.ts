/**
 * Tools of the box, and one of one's own, made executable.
 */
// #region erase
import { erase } from "@toolwright/builtin-tools"
import { calculate } from "@toolwright/builtin-tools/calculate"
import { currentTime } from "@toolwright/builtin-tools/current-time"
import { Tool } from "@toolwright/runtime-contract"
import { Type } from "@toolwright/runtime-contract/typebox"

const shout = Tool.make({
  id: "shout",
  description: "Return a text in capitals",
  args: Type.Object({ text: Type.String() }),
  call: ({ text }) => text.toUpperCase()
})

/** For `Runtime.make({ tools })`. */
export const tools = [erase(shout), erase(calculate()), erase(currentTime())]
// #endregion
