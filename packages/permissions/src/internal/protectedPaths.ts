/**
 * Files inside of a workspace that run or decide something when other programs meet them. Editing one is more than an edit.
 */
export const protectedPaths: ReadonlyArray<string> = Object.freeze([
  "**/.git/**",
  "**/.hg/**",
  "**/.svn/**",
  "**/.husky/**",
  "**/.vscode/**",
  "**/.idea/**",
  "**/.toolwright/**",
  "**/.envrc",
  "**/.npmrc",
  "**/.yarnrc.yml"
])
