import type fc from 'fast-check';

/** A way by which others reach the program, and inputs that know its shape and break it. */
export interface Entry<Input> {
  readonly name: string;
  /** Values that JSON can write, so that one which was found can be kept. */
  readonly inputs: fc.Arbitrary<Input>;
  /** The program behind the entry is let go and opened anew after this many inputs; never unless given. */
  readonly inputsAProgram?: number;
  open(): Promise<Target<Input>>;
}

/** The program behind an entry. */
export interface Target<Input> extends AsyncDisposable {
  /** Feeds it one input. Rejects if a promise is broken. */
  give(input: Input): Promise<void>;
}

/** Says that a promise is broken. */
export function broken(what: string): never {
  throw new Error(what);
}
