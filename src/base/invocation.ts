interface Invocation {
  readonly call: () => string;
  readonly commands: ReadonlySet<string>;
  readonly folder: string | null;
}

let invocation: Invocation | undefined;

/** `call` is asked when the first command is printed, because it looks at the disk. A person pastes commands in `folder`. */
export function noteInvocation(call: () => string, commands: Iterable<string>, folder: string | null = null): void {
  let known: string | undefined;
  invocation = { call: () => (known ??= call()), commands: new Set(commands), folder };
}

/** Returns the folder in which a person must paste the commands; null if any folder will do. */
export function pasteFolder(): string | null {
  return invocation?.call().startsWith('npx ') === true ? invocation.folder : null;
}

/** Puts the call and the settings of this process into each command, so that a person can paste it. Never for the data of orders. */
export function pasteable(text: string): string {
  if (invocation === undefined || !text.includes('order-sync ')) return text;
  const { call, commands } = invocation;
  return text.replaceAll(/(?<![\w/.-]|npx )order-sync (?=([a-z][a-z-]*))/g, (words, name: string) =>
    commands.has(name) ? `${call()} ` : words,
  );
}
