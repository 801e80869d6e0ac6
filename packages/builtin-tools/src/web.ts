/** The web tool. */
export { WebFetch, webFetch, type WebPlace } from "./WebFetch.js"
