import type { Command } from 'commander';
import type { AccountScope } from './shared/account.ts';

type Define = (command: Command) => void;

type Load = () => Promise<{ readonly define: Define | Readonly<Record<string, Define>> }>;

/** A module is loaded only when one of its commands is called, because to load all takes longer than most commands. */
type Entry = readonly [text: string, load: Load, scope?: AccountScope];

/** A group of commands. An extension that adds commands to a group that has a `text` already omits `text`. */
interface Group {
  readonly text?: string;
  readonly example?: string;
  readonly commands: Entries;
  /** Errors of these commands quote no e-mail address. The commands also have old names, without the group's name. */
  readonly isOfClients?: true;
}

export type Entries = Readonly<Record<string, Entry | Group>>;

/** The heading of commands that only `help --all` lists. */
export const MORE = 'More commands:';
/** The heading of commands that are listed nowhere. */
export const OLD = 'Old names:';
const HEADINGS = ['First steps:', 'Every day:', MORE] as const;

/** Commands by the heading under which the help lists them. */
export type Commands = Partial<Readonly<Record<(typeof HEADINGS)[number], Entries>>>;

/** Joins the commands of each heading, and groups that have the same name. */
export function joined(parts: readonly Commands[]): readonly (readonly [heading: string, Entries])[] {
  const found = HEADINGS.map((heading) => [heading, parts.map((part) => part[heading] ?? {}).reduce(together, {})]);
  const groups = found.flatMap(([, entries]) => Object.values(entries as Entries));
  const old = groups.map((entry) => ('commands' in entry && entry.isOfClients === true ? entry.commands : {}));
  return [...(found as [string, Entries][]), [OLD, Object.assign({}, ...old)]];
}

function together(some: Entries, more: Entries): Entries {
  const entries = { ...some };
  for (const [name, entry] of Object.entries(more)) {
    const known = entries[name];
    const areGroups = known !== undefined && 'commands' in known && 'commands' in entry;
    entries[name] = areGroups ? { ...known, ...entry, commands: together(known.commands, entry.commands) } : entry;
  }
  return entries;
}
