import type { Place, Values } from './tree.ts';

/** The script for fish: a line an option and a command, each for the place where it may stand. */
export function fishScript(places: readonly Place[]): string {
  const takers = new Set(
    places.flatMap(({ options }) => options.filter(({ values }) => values !== undefined).map(({ name }) => name)),
  );
  const paths = places.map(({ path }) => path).filter(Boolean);
  return [
    HEAD,
    `            case ${[...takers].join(' ')}`,
    '                set skip 1',
    `            case '*'`,
    '                set -l path (string trim "$place $one")',
    `                contains -- $path ${paths.map(quoted).join(' ')}; and set place $path`,
    TAIL,
    ...places.flatMap(linesOf),
    '',
  ].join('\n');
}

const HEAD = `# Completion of order-sync for fish: order-sync completion fish | source
function __order_sync_at
    set -l place ''
    set -l skip 0
    for one in (commandline -opc)[2..]
        if test $skip = 1
            set skip 0
            continue
        end
        switch $one`;
const TAIL = `        end
    end
    test "$place" = "$argv[1]"
end
complete -c order-sync -f`;

function linesOf({ path, commands, options, argument }: Place): readonly string[] {
  const at = `complete -c order-sync -n ${quoted(`__order_sync_at ${quoted(path)}`)}`;
  return [
    ...commands.map(({ name, text }) => `${at} -a ${quoted(name)} -d ${quoted(text)}`),
    ...options.map(({ name, text, values }) => `${at} -l ${name.slice(2)}${valued(values)} -d ${quoted(text)}`),
    ...(argument === 'file' ? [`${at} -F`] : []),
    ...(Array.isArray(argument) ? [`${at} -a ${quoted(argument.join(' '))}`] : []),
  ];
}

function valued(values: Values | undefined): string {
  if (values === undefined) return '';
  if (values === 'file') return ' -r -F';
  return values === 'text' ? ' -x' : ` -x -a ${quoted(values.join(' '))}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
