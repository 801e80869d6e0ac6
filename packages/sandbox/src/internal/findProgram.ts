/** Finds a program on the path, without a shell. */
import * as fs from "node:fs"
import * as path from "node:path"

export const findProgram = (name: string): string | undefined => {
  if (path.isAbsolute(name)) return isExecutable(name) ? name : undefined
  const folders = [...(process.env["PATH"] ?? "").split(path.delimiter), "/usr/bin", "/bin", "/usr/local/bin"]
  return folders
    .filter((folder) => path.isAbsolute(folder))
    .map((folder) => path.join(folder, name))
    .find(isExecutable)
}

const isExecutable = (file: string): boolean => {
  try {
    fs.accessSync(file, fs.constants.X_OK)
    return fs.statSync(file).isFile()
  } catch {
    return false
  }
}
