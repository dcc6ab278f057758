interface Invocation {
  /** The words before a command, such as `npx order-sync --config shop.yaml`. */
  readonly call: () => string;
  readonly commands: ReadonlySet<string>;
  readonly folder: string | null;
}

let invocation: Invocation | undefined;

/**
 * Notes how this process was called. `call` is asked when the first command is printed, because it looks at the disk; `folder`: the
 * one in which a person pastes the commands, null if that is not known.
 */
export function noteInvocation(call: () => string, commands: Iterable<string>, folder: string | null = null): void {
  let known: string | undefined;
  invocation = { call: () => (known ??= call()), commands: new Set(commands), folder };
}

/** Returns the folder in which a person must paste the commands; null if any folder will do. */
export function pasteFolder(): string | null {
  return invocation?.call().startsWith('npx ') === true ? invocation.folder : null;
}

/**
 * Returns the text with each command, such as `order-sync status`, as a person can paste it: with the way in which this process
 * was called, and its settings. A text that has these already does not change. Every surface passes the texts of the program
 * through it, and never the data of orders.
 */
export function pasteable(text: string): string {
  if (invocation === undefined || !text.includes('order-sync ')) return text;
  const { call, commands } = invocation;
  return text.replaceAll(/(?<![\w/.-]|npx )order-sync (?=([a-z][a-z-]*))/g, (words, name: string) =>
    commands.has(name) ? `${call()} ` : words,
  );
}
