import { type InputReader, notARunner } from '../../action/inputs/input-reader.js';
import { checked, oneOfParser, parseBoolean, patternParser } from '../../action/inputs/input-values.js';
import { maxLabelLength } from '../../keys/key-name.js';
import { onFailureValues } from '../../keys/post-state.js';
import { readRun } from '../current-run.js';

export type CreateKeySettings = ReturnType<typeof readCreateKeySettings>;

export function readCreateKeySettings(reader: InputReader) {
  const run = readRun(reader);
  // Without these files, the toolkit prints state, outputs and variables as log commands, which would reveal the key.
  const needed = ['GITHUB_STATE', 'GITHUB_OUTPUT', ...(reader.text('export-env') === '' ? [] : ['GITHUB_ENV'])];
  for (const name of needed) reader.variable(name, patternParser(/./s, `is empty; ${notARunner}`));
  return reader.complete({
    run,
    label: reader.parse('key-label', parseKeyLabel, reader.text('key-label') || defaultLabel(reader)),
    revokeInPost: reader.parse('revoke-in-post', parseBoolean),
    onRevokeFailure: reader.parse('on-revoke-failure', oneOfParser(onFailureValues)),
    exportTo: reader.optional('export-env', parseVariableName),
  });
}

function defaultLabel({ environment }: InputReader): string {
  const [, name = ''] = environment['GITHUB_REPOSITORY']?.toLowerCase().split('/') ?? [];
  return name.replace(/[^a-z0-9-]/g, '-').slice(0, maxLabelLength) || 'ctl';
}

const parseKeyLabel = patternParser(
  new RegExp(`^[a-z0-9-]{1,${maxLabelLength}}$`),
  `is not a valid label; expected 1 to ${maxLabelLength} characters from a-z, 0-9 and -`,
);

const parseVariableName = checked((text) => {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(text))
    return 'is not a valid name for an environment variable; expected letters, digits and _, not starting with a digit, such as DB_API_KEY';
  const isSteering = steeringVariables.test(text);
  return isSteering ? 'controls how later steps run; expected another name, such as CONTROL_API_KEY' : undefined;
});

/** Environment variables that control the shell, loaders, languages, tools, the runner or this action. */
const steeringVariables = new RegExp(
  [
    '^(GITHUB|RUNNER|ACTIONS|AGENT|CTL|INPUT|STATE|LD|DYLD|NODE|NPM|YARN|PIP|UV|CARGO|GEM|BUNDLE|MAVEN|GRADLE|GIT|SSH|SSL|CURL|AWS|OPENSSL|DOTNET|COMPLUS|CORECLR|BASH|DOCKER|LC|XDG|GLIBC|GCONV|ELECTRON|JAVA|_JAVA|JDK_JAVA|PYTHON|RUBY|PERL|HELM|ANSIBLE|TERRAGRUNT)_',
    // `TF_VAR_…` only sets a variable of a Terraform configuration.
    '^TF_(?!VAR_)',
    '^(PYTHON(PATH|HOME|STARTUP|OPTIMIZE|INSPECT)|PERL5?(LIB|OPT|DB)|RUBY(OPT|LIB|PATH)|RUST(FLAGS|C|C_WRAPPER|DOCFLAGS)|GO(PATH|ROOT|ENV|FLAGS|PROXY|BIN)|CLASSPATH|MAKEFLAGS|CC|CXX|CPATH|C_INCLUDE_PATH|LIBRARY_PATH|LIBPATH|LIB|INCLUDE|CL|_CL_|LINK|_LINK_)$',
    '^(PATH|PATHEXT|PSMODULEPATH|HOME(DRIVE|PATH)?|USERPROFILE|USER|PWD|SHELL|ENV|SHELLOPTS|BASHOPTS|IFS|CDPATH|PS[0-4]|PROMPT_COMMAND|ZDOTDIR|TERM|LESSOPEN|TMP|TEMP|TMPDIR|CI|LANG|COMSPEC|SYSTEMROOT|SYSTEMDRIVE|WINDIR|(LOCAL)?APPDATA|PROGRAM(DATA|FILES|W6432)|EDITOR|VISUAL|PAGER|KUBECONFIG|SSLKEYLOGFILE|REQUESTS_CA_BUNDLE|CONTAINER_HOST|BUILDKIT_HOST|LUA_INIT|PHP_INI_SCAN_DIR|GLOBIGNORE|GNUPGHOME)$',
    'PROXY$',
  ].join('|'),
  'i',
);
