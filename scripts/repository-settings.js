// Compares the settings of the repository on GitHub with .github/rulesets/*.json and .github/settings.json:
//
//   GH_TOKEN=… node scripts/repository-settings.js OWNER/NAME
//
// Each ruleset must equal its file, and GitHub must have no other ruleset. Each key of settings.json is a path below
// /repos/OWNER/NAME, and the response must have at least the fields of the key's value. The token needs the repository permissions
// Administration (write) and Actions (read). GitHub shows who may bypass a ruleset only to those who may change it.
import { readdirSync, readFileSync } from 'node:fs';

const fieldsOfRuleset = ['name', 'target', 'enforcement', 'bypass_actors', 'conditions', 'rules'];

try {
  const differences = await compare(process.argv[2]);
  for (const difference of differences) console.error(difference);
  if (differences.length > 0) throw new Error(`${differences.length} settings differ from the files`);
  console.log('The settings of the repository are those of the files.');
} catch (error) {
  console.error(`repository-settings: ${error.message}`);
  process.exitCode = 1;
}

async function compare(repository) {
  if (!/^[\w.-]+\/[\w.-]+$/.test(repository)) throw new Error('usage: repository-settings.js OWNER/NAME');
  const api = `repos/${repository}`;
  const differences = [];

  const paths = readdirSync('.github/rulesets').map((name) => `.github/rulesets/${name}`);
  for (const path of paths.filter((path) => readJson(path).bypass_actors.some(({ actor_id }) => actor_id === 0))) {
    differences.push(`${path}: actor_id is 0. Write the App ID of the App of the release there, see MAINTAINING.md`);
  }
  const files = paths.map(readJson);
  const listed = await get(`${api}/rulesets?includes_parents=false&per_page=100`);
  for (const file of files) {
    const found = listed.filter(({ name }) => name === file.name);
    if (found.length !== 1) differences.push(`ruleset “${file.name}”: expected 1, found ${found.length}`);
  }
  for (const { id, name } of listed) {
    const file = files.find((wanted) => wanted.name === name);
    if (file === undefined) {
      differences.push(`ruleset “${name}”: no file describes it`);
      continue;
    }
    const set = await get(`${api}/rulesets/${id}`);
    // Without this field, nothing shows who may bypass the ruleset.
    if (set.bypass_actors === undefined) {
      throw new Error('the token does not see who may bypass a ruleset: it needs Administration (write)');
    }
    const fields = Object.fromEntries(fieldsOfRuleset.map((field) => [field, set[field]]));
    differences.push(...differ(`ruleset “${name}”`, byType(file), byType(fields), { exactly: true }));
  }

  for (const [path, wanted] of Object.entries(readJson('.github/settings.json'))) {
    differences.push(...differ(path, wanted, await get(`${api}/${path}`), { exactly: false }));
  }
  return differences;
}

/** GitHub may list the rules in any order. */
function byType({ rules, ...rest }) {
  return { ...rest, rules: Object.fromEntries(rules.map((rule) => [rule.type, { parameters: {}, ...rule }])) };
}

/** With `exactly`, a field that only GitHub names must be off or empty. */
function differ(place, wanted, found, { exactly }) {
  if (Array.isArray(wanted) && Array.isArray(found)) {
    const fits = (a, b) => differ(place, a, b, { exactly }).length === 0;
    const allFound = wanted.every((item) => found.some((other) => fits(item, other)));
    return allFound && wanted.length === found.length ? [] : [differs(place, wanted, found)];
  }
  if (isObject(wanted) && isObject(found)) {
    const unnamed = Object.keys(found).filter((key) => exactly && !(key in wanted) && !isOff(found[key]));
    return [...Object.keys(wanted), ...unnamed].flatMap((key) =>
      differ(`${place}: ${key}`, wanted[key], found[key], { exactly }),
    );
  }
  return wanted === found ? [] : [differs(place, wanted, found)];
}

function differs(place, wanted, found) {
  return `${place}: the file has ${JSON.stringify(wanted)}, GitHub has ${JSON.stringify(found)}`;
}

function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isOff(value) {
  if (isObject(value)) return Object.values(value).every(isOff);
  return !value || (Array.isArray(value) && value.length === 0);
}

async function get(path) {
  const base = process.env.GITHUB_API_URL ?? 'https://api.github.com';
  const response = await fetch(`${base}/${path}`, {
    headers: {
      accept: 'application/vnd.github+json',
      authorization: `Bearer ${process.env.GH_TOKEN}`,
      'x-github-api-version': '2022-11-28',
    },
    redirect: 'error',
  });
  // GitHub also responds with 404 if the token lacks a permission.
  if (!response.ok) {
    throw new Error(
      `GET ${path} gave ${response.status}: the token needs Administration (write) and Actions (read), or it is not set up`,
    );
  }
  return response.json();
}

function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}
