import { erase } from "@toolwright/builtin-tools"
import { Tool } from "@toolwright/runtime-contract"
import { Type } from "@toolwright/runtime-contract/typebox"

const shout = Tool.make({
  id: "shout",
  description: "Return the text in capitals",
  args: Type.Object({ text: Type.String() }),
  call: ({ text }) => text.toUpperCase()
})
const { id } = erase(shout).spec()
if (id !== "shout") throw new Error(id)
