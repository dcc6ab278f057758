/** `small` is what a change runs through before it is taken; `full` is what a release runs through. */
export type Dose = 'small' | 'full';

/** The result of one piece of a part. */
export interface PieceResult {
  /** The work of a piece: seeds, deaths, requests and the like. The numbers of all pieces are added up. */
  readonly counts: Readonly<Record<string, number>>;
  /** The broken promises, each with the command that shows it again. */
  readonly violations: readonly string[];
  /** Kept for a page of the part's own. */
  readonly details?: unknown;
}

/** A share of a part: its result is kept when a proof is broken off, so that it continues from there. */
export interface Piece {
  readonly name: string;
  readonly run: (say: (text: string) => void) => Promise<PieceResult>;
}

/** One way to try the promises. */
export interface Part {
  readonly name: string;
  /** The subject of the part, as a line of docs/reliability.md says it. */
  readonly text: string;
  /** The files, or patterns of them, that it begins with: a kept result holds as long as the program, these and what they lead to are the same. */
  readonly reads: readonly string[];
  /** True if the part tries the program in real time. It mostly waits, so it runs beside the others. */
  readonly isWaiting?: boolean;
  /** The least results of all pieces together. */
  readonly least: (dose: Dose) => Readonly<Record<string, number>>;
  readonly pieces: (dose: Dose) => readonly Piece[];
}
