/** One change of the source that makes a bug. */
export interface Edit {
  /** From the root of the repository. */
  readonly file: string;
  /** The function, method (`Class.method`), constant or class that it stands in. */
  readonly in: string;
  /** The text that is replaced; it stands in the declaration exactly once. */
  readonly from: string;
  readonly to: string;
}

/** A bug that a good engineer could make, and that the simulation must catch. */
export interface PlantedBug {
  readonly name: string;
  /** The change of the bug: a line of docs/reference/planted-bugs.md. */
  readonly text: string;
  /** The promise, as the observer words it, that it breaks first. */
  readonly breaks: RegExp;
  readonly edits: readonly Edit[];
  /** The way in which worlds are run that catches it; random worlds unless given. */
  readonly mode?: string;
  /** If the bug makes a world endless: the steps in which its world ends without the bug. */
  readonly mostSteps?: number;
  /** Why the simulation does not catch it. */
  readonly notCaught?: string;
}
