export const basePath = '/v2';

/** A segment that begins with `:` is a parameter. A fixed segment comes before a parameter in the same place. */
const table = [
  ['/api_keys', { GET: 'list-keys', POST: 'create-key' }],
  ['/api_keys/:key', { DELETE: 'revoke-key' }],
  ['/organizations/:organization/api_keys', { GET: 'list-keys', POST: 'create-key' }],
  ['/organizations/:organization/api_keys/:key', { DELETE: 'revoke-key' }],
  ['/projects', { GET: 'list-projects' }],
  ['/projects/shared', { GET: 'list-shared-projects' }],
  ['/projects/:project', { GET: 'get-project' }],
  ['/projects/:project/branches', { GET: 'list-branches', POST: 'create-branch' }],
  ['/projects/:project/branches/:branch', { GET: 'get-branch', DELETE: 'delete-branch' }],
  ['/projects/:project/operations', { GET: 'list-operations' }],
  ['/projects/:project/operations/:operation', { GET: 'get-operation' }],
] as const;

type Values<T> = T extends unknown ? T[keyof T] : never;
export type Endpoint = Values<(typeof table)[number][1]>;
export type PathParameters = Readonly<Record<string, string>>;

const routes = table.map(([path, methods]) => ({
  segments: path.slice(1).split('/'),
  methods: new Map<string, Endpoint>(Object.entries(methods)),
}));

export const endpoints: readonly Endpoint[] = [...new Set(routes.flatMap(({ methods }) => [...methods.values()]))];

const basePathSlash = `${basePath}/`;

export type Route =
  | { readonly kind: 'endpoint'; readonly endpoint: Endpoint; readonly parameters: PathParameters }
  | { readonly kind: 'wrong-method'; readonly allowed: readonly string[] }
  | { readonly kind: 'unknown-path' };

const unknownPath: Route = { kind: 'unknown-path' };

export function findRoute(method: string, target: string): Route {
  const path = pathOf(target);
  if (!path.startsWith(basePathSlash)) return unknownPath;
  const segments = path.slice(basePathSlash.length).split('/');
  for (const { segments: pattern, methods } of routes) {
    const parameters = matchSegments(pattern, segments);
    if (parameters === undefined) continue;
    const endpoint = methods.get(method);
    if (endpoint === undefined) return { kind: 'wrong-method', allowed: [...methods.keys()] };
    return { kind: 'endpoint', endpoint, parameters };
  }
  return unknownPath;
}

/** The endpoint of a request, for the log and for faults. */
export function endpointOf(method: string, target: string): Endpoint | 'other' {
  const route = findRoute(method, target);
  return route.kind === 'endpoint' ? route.endpoint : 'other';
}

function matchSegments(pattern: readonly string[], segments: readonly string[]): PathParameters | undefined {
  if (pattern.length !== segments.length) return undefined;
  const parameters: Record<string, string> = {};
  for (const [index, expected] of pattern.entries()) {
    const segment = segments[index] ?? '';
    if (expected.startsWith(':') && segment !== '') parameters[expected.slice(1)] = segment;
    else if (expected !== segment) return undefined;
  }
  return parameters;
}

export function pathOf(target: string): string {
  const end = target.indexOf('?');
  return end < 0 ? target : target.slice(0, end);
}

export function queryOf(target: string): URLSearchParams {
  return new URLSearchParams(target.slice(pathOf(target).length));
}
