import { type Json, ToolDescriptor } from "@toolwright/runtime-contract"

/** A descriptor with this schema as it stands, as a foreign tool would have it. */
export const describeTool = (id: string, inputSchema: Json.JsonObject, description = `The tool ${id}`) =>
  ToolDescriptor.forTool(
    {
      spec: { id, description, inputSchema, kind: "Regular", target: "Brain", warnings: [] },
      recovery: "NonRecoverable"
    },
    "test:tools"
  )

export const emptyArguments: Json.JsonObject = { type: "object", properties: {}, additionalProperties: false }
