import * as package_ from "@toolwright/runtime"

if (typeof package_ !== "object") throw new Error("not a module")
