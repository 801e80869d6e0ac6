export { default } from "@toolwright/vitest-config"
