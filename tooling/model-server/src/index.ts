/** A local server that speaks the wire formats of model providers, for tests. */
export { errorBody, framesOf, type WireFormat, type WireTurn } from "./WireFormat.js"
export { type WireReply, type WireRequest, WireServer } from "./WireServer.js"
