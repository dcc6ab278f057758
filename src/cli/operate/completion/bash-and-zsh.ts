import { optionsWithValues, type Place, type Values, type Word } from './tree.ts';

/** What the two shells write differently. */
interface Dialect {
  readonly head: string;
  /** A list of words, as it is kept in a variable. */
  words(words: readonly Word[]): string;
  /** Offers a few values of an option. */
  values(values: readonly string[]): string;
  readonly files: string;
  readonly texts: string;
  readonly tail: string;
}

const BASH: Dialect = {
  head: `# Completion of order-sync for bash: source <(order-sync completion bash)
_order_sync() {
  local word=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} place='' one
  local commands='' options='' argument=''
  local -i index
  COMPREPLY=()
  # Bash splits --option=value at the equals sign.
  if [[ $word == = ]]; then word=''; elif [[ $previous == = ]]; then previous=\${COMP_WORDS[COMP_CWORD-2]}; fi
  for ((index = 1; index < COMP_CWORD; index++)); do
    one=\${COMP_WORDS[index]}`,
  words: (words) => `'${words.map(({ name }) => name).join(' ')}'`,
  values: (values) => `_order_sync_offer '${values.join(' ')}'; return`,
  // Readline names files where nothing else is offered.
  files: 'return',
  texts: '_order_sync_offer; return',
  tail: `  if [[ $word == -* ]]; then _order_sync_offer "$options"
  elif [[ $argument != file ]]; then _order_sync_offer "$commands"
  fi
}
_order_sync_offer() {
  compopt +o default 2>/dev/null
  COMPREPLY=($(compgen -W "$1" -- "$word"))
}
complete -o default -F _order_sync order-sync
`,
};

const ZSH: Dialect = {
  head: `#compdef order-sync
# Completion of order-sync for zsh: source <(order-sync completion zsh)
_order_sync() {
  local word=\${words[CURRENT]} previous=\${words[CURRENT-1]} place='' one argument=''
  local -a commands options
  local -i index
  if [[ $word == --*=* ]]; then previous=\${word%%=*}; compset -P '--*='; fi
  for ((index = 2; index < CURRENT; index++)); do
    one=\${words[index]}`,
  words: (words) => `(${words.map(({ name, text }) => quoted(`${name}:${text}`)).join(' ')})`,
  values: (values) => `compadd -- ${values.join(' ')}; return`,
  files: '_files; return',
  texts: 'return',
  tail: `  if [[ $word == -* ]]; then _describe -o option options
  elif [[ $argument == file ]]; then _files
  elif ((\${#commands})); then _describe command commands
  fi
}
if [[ \${funcstack[1]} == _order_sync ]]; then _order_sync "$@"; else compdef _order_sync order-sync; fi
`,
};

export const bashScript = (places: readonly Place[]) => script(BASH, places);
export const zshScript = (places: readonly Place[]) => script(ZSH, places);

function script(shell: Dialect, places: readonly Place[]): string {
  const paths = places.map(({ path }) => path).filter(Boolean);
  const options = optionsWithValues(places);
  const takers = new Set(options.flatMap(([, keys]) => keys.map((key) => key.replaceAll(/.* |'/g, ''))));
  const lines = [
    shell.head,
    '    case "$one" in',
    `      ${[...takers].join('|')}) ((index += 1)); continue ;;`,
    '    esac',
    '    one="${place:+$place }$one"',
    '    case "$one" in',
    `      ${paths.map(quoted).join('|')}) place=$one ;;`,
    '    esac',
    '  done',
    '  case "$place $previous" in',
    ...options.map(([values, keys]) => `    ${keys.join('|')}) ${offer(shell, values)} ;;`),
    '  esac',
    '  case "$place" in',
    ...places.map((place) => `    ${quoted(place.path)}) ${atPlace(shell, place)} ;;`),
    '  esac',
    shell.tail,
  ];
  return lines.join('\n');
}

function offer(shell: Dialect, values: Values): string {
  if (values === 'file') return shell.files;
  return values === 'text' ? shell.texts : shell.values(values);
}

function atPlace(shell: Dialect, { commands, options, argument }: Place): string {
  const choices = Array.isArray(argument) ? argument.map((name: string) => ({ name, text: '' })) : [];
  const offered = [...commands, ...choices];
  return [
    `options=${shell.words(options)}`,
    ...(offered.length > 0 ? [`commands=${shell.words(offered)}`] : []),
    ...(argument === 'file' ? ['argument=file'] : []),
  ].join(' ');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
