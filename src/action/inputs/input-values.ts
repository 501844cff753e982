import { maxLabelLength } from '../../keys/key-name.js';
import { minSecretLength } from '../../text/encodings.js';
import { didYouMean } from '../../text/sentences.js';
import { parseDuration } from '../../time/duration.js';

/** The message says what is wrong and what was expected. It follows the input and its value: `timeout: “ten” is …`. */
export class BadValue extends Error {
  constructor(
    message: string,
    /** True if the value may contain a secret, so that no message quotes the value. */
    readonly hidesValue = false,
  ) {
    super(message);
  }
}

export type Parse<T> = (text: string) => T;

export function durationParser({ zero = false, minMs = 0, maxDays = 24 } = {}): Parse<number> {
  return (text) => {
    const ms = parseDuration(text);
    if (ms === undefined)
      throw new BadValue(
        'is not a duration; expected whole numbers with units, such as 90s, 10m or 1h30m (a number without a unit means seconds)',
      );
    if (ms === 0 && !zero) throw new BadValue('is zero; expected a duration above 0');
    if (ms < minMs) throw new BadValue(`is too short; expected at least ${minMs}ms`);
    if (ms > maxDays * 86_400_000) throw new BadValue(`is too long; expected at most ${maxDays} days`);
    return ms;
  };
}

export function oneOfParser<T extends string>(words: readonly T[]): Parse<T> {
  return (text) => {
    const word = words.find((candidate) => candidate === text);
    if (word !== undefined) return word;
    const problem = text === '' ? 'is empty' : 'is not a valid value';
    throw new BadValue(`${problem}; valid values: ${words.join(', ')}${didYouMean(text, words)}`);
  };
}

export function patternParser(pattern: RegExp, problem: string): Parse<string> {
  return (text) => {
    if (!pattern.test(text)) throw new BadValue(problem);
    return text;
  };
}

/** Accepts the same words as `core.getBooleanInput`: the booleans of the YAML 1.2 core schema. */
export const parseBoolean: Parse<boolean> = (text) => {
  if (['true', 'True', 'TRUE'].includes(text)) return true;
  if (['false', 'False', 'FALSE'].includes(text)) return false;
  throw new BadValue('is not a boolean; expected true or false');
};

/** Rejects the words that jq, JavaScript and Python print for a missing value. */
export const rejectLeftover: Parse<string> = (text) => {
  if (!['null', 'undefined', 'None'].includes(text)) return text;
  throw new BadValue(
    'looks like the output of a failed jq command or template; check the step that should provide the value',
  );
};

export const parseKeyId: Parse<string> = (text) => {
  // A value of more than 15 characters may be the key itself instead of its id, so the message does not quote the value.
  if (!/^\d+$/.test(rejectLeftover(text)))
    throw new BadValue('is not a key id; expected an integer, such as 165423', text.length > 15);
  return text.replace(/^0+(?=\d)/, '');
};

export const parseKeyLabel = patternParser(
  new RegExp(`^[a-z0-9-]{1,${maxLabelLength}}$`),
  `is not a valid label; expected 1 to ${maxLabelLength} characters from a-z, 0-9 and -`,
);

/** Environment variables that control the shell, loaders, languages, tools, the runner or this action. */
const steering = new RegExp(
  [
    '^(GITHUB|RUNNER|ACTIONS|AGENT|CTL|INPUT|STATE|LD|DYLD|NODE|NPM|YARN|PIP|UV|CARGO|GEM|BUNDLE|MAVEN|GRADLE|GIT|SSH|SSL|CURL|AWS|OPENSSL|DOTNET|COMPLUS|CORECLR|BASH|DOCKER|LC|XDG|GLIBC|GCONV|ELECTRON|JAVA|_JAVA|JDK_JAVA|PYTHON|RUBY|PERL)_',
    '^(PYTHON(PATH|HOME|STARTUP|OPTIMIZE|INSPECT)|PERL5?(LIB|OPT|DB)|RUBY(OPT|LIB|PATH)|RUST(FLAGS|C|C_WRAPPER|DOCFLAGS)|GO(PATH|ROOT|ENV|FLAGS|PROXY|BIN)|CLASSPATH|MAKEFLAGS|CC|CXX|CPATH|C_INCLUDE_PATH|LIBRARY_PATH|LIBPATH|LIB|INCLUDE|CL|_CL_|LINK|_LINK_)$',
    '^(PATH|PATHEXT|PSMODULEPATH|HOME(DRIVE|PATH)?|USERPROFILE|USER|PWD|SHELL|ENV|SHELLOPTS|IFS|CDPATH|PS[0-4]|PROMPT_COMMAND|ZDOTDIR|TERM|LESSOPEN|TMP|TEMP|TMPDIR|CI|LANG|COMSPEC|SYSTEMROOT|SYSTEMDRIVE|WINDIR|(LOCAL)?APPDATA|PROGRAM(DATA|FILES|W6432)|EDITOR|VISUAL|PAGER|KUBECONFIG|SSLKEYLOGFILE)$',
    'PROXY$',
  ].join('|'),
  'i',
);

export const parseVariableName: Parse<string> = (text) => {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(text))
    throw new BadValue(
      'is not a valid name for an environment variable; expected letters, digits and _, not starting with a digit, such as DB_API_KEY',
    );
  if (steering.test(text))
    throw new BadValue('controls how later steps run; expected another name, such as CONTROL_API_KEY');
  return text;
};

export const parseLimit: Parse<number> = (text) => {
  if (!/^\d{1,9}$/.test(text))
    throw new BadValue('is not a valid record count; expected a positive whole number, or 0 for all records');
  return Number(text) || Number.POSITIVE_INFINITY;
};

export function parseOperationId(text: string): string {
  const id = rejectLeftover(text).toLowerCase();
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id))
    throw new BadValue('is not an operation id; expected a UUID, such as a07f8772-1877-4da9-a939-3a3ae62d1d8d');
  return id;
}

export const parseBaseUrl: Parse<URL> = (text) => {
  if (text === '')
    throw new BadValue(
      'is empty; expected the URL of the control API, in this input or in the environment variable CTL_BASE_URL. Check the name of the variable that holds the URL',
    );
  if (!URL.canParse(text)) throw new BadValue('is not a URL; expected one like https://host/api/v2');
  const url = new URL(text);
  if (!/^https?:$/.test(url.protocol)) throw new BadValue('has an unsupported scheme; expected https');
  if (url.protocol === 'http:' && !/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname))
    throw new BadValue(
      'would send the API key unencrypted; expected https (http is accepted only for localhost, 127.0.0.0/8 and [::1])',
    );
  if (url.username !== '' || url.password !== '')
    throw new BadValue('must not contain a user name or password. Pass the API key in the input api-key');
  if (/[?#]/.test(text)) throw new BadValue('has a query or a fragment; expected only scheme, host and path');
  return url;
};

export function isBaseUrl(text: string): boolean {
  try {
    parseBaseUrl(text);
    return true;
  } catch {
    return false;
  }
}

/** Hides user, password, query and fragment. The text may be an invalid URL, so no URL parser is used. */
export function urlWithoutSecrets(text: string): string {
  return text.replace(/^([a-z][a-z\d+.-]*:)?.*@/is, '$1//***@').replace(/[?#].*/s, '?***');
}

export const parseApiKey: Parse<string> = (text) => {
  if (text === '')
    throw new BadValue(
      'is empty; expected an API key, in this input or in the environment variable CTL_API_KEY. Workflows from forks and Dependabot get no secrets. In other workflows, check the name of the secret, and that this job may read it',
    );
  if (text.length < minSecretLength)
    throw new BadValue(
      `has fewer than ${minSecretLength} characters, and masking it would hide ordinary text in the log; expected the complete API key`,
      true,
    );
  if (!/^[\x21-\x7e]+$/.test(text))
    throw new BadValue(
      'contains a space, a line break or another character that is not allowed in a key; expected only the API key. Check the value of the secret',
      true,
    );
  return text;
};
