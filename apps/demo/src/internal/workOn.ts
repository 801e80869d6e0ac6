/**
 * Which behaviour belongs to which intent about the folder.
 *
 * Guarantees: every intent has one.
 */
import type { FolderIntent } from "./folderRequest.js"
import type { Work } from "./work.js"
import {
  deleteFile,
  fetchPage,
  find,
  keepTasks,
  listFiles,
  listFolder,
  moveFile,
  readFiles,
  replaceText,
  writeFile
} from "./workOnFiles.js"
import { mendTest, runCommand, sayTests } from "./workOnTests.js"

export const workOn = (intent: FolderIntent): Work => {
  switch (intent.type) {
    case "find":
      return find(intent)
    case "files":
      return listFiles(intent)
    case "folder":
      return listFolder(intent)
    case "read":
      return readFiles(intent)
    case "replace":
      return replaceText(intent)
    case "write":
      return writeFile(intent)
    case "move":
      return moveFile(intent)
    case "delete":
      return deleteFile(intent)
    case "run":
      return runCommand(intent)
    case "test":
      return sayTests()
    case "mend":
      return mendTest()
    case "fetch":
      return fetchPage(intent)
    case "tasks":
      return keepTasks(intent)
  }
}
