export interface LoggedRequest {
  readonly at: number;
  readonly method: string;
  readonly path: string;
  readonly status: number | undefined;
  readonly body: string | undefined;
  readonly keyId?: string | undefined;
  readonly fault?: string | undefined;
}

/** A request as a line of the log: time, method, path, status, and what the response means. No secret of a key is in it. */
export function requestLine({ at, method, path, status, body, keyId, fault }: LoggedRequest): string {
  const notes = [keyId && `key ${keyId}`, body && gist(body), fault && `fault ${fault}`].filter(Boolean);
  return `${new Date(at).toISOString().slice(11)} ${method} ${path} ${status ?? 'no response'}: ${notes.join(', ')}\n`;
}

/** The bodies of the control plane, its control endpoints and GitHub; one field tells them apart. */
interface Body {
  readonly message?: string;
  readonly operation?: { readonly action: string; readonly status: string };
  readonly operations?: readonly unknown[];
  readonly projects?: readonly unknown[];
  readonly branches?: readonly unknown[];
  readonly branch?: { readonly id: string };
  readonly project?: { readonly id: string };
  readonly revoked?: boolean;
  readonly key?: string;
  readonly created_at?: string;
  readonly id?: number;
  readonly status?: string;
  readonly faults?: readonly string[];
  readonly next_operation?: Readonly<Record<string, string>>;
}

function counted({ length }: readonly unknown[], noun: string): string {
  return `${length} ${noun}${length === 1 ? '' : 's'}`;
}

function gist(text: string): string {
  const body = parse(text);
  if (body === undefined) return 'not JSON';
  if (Array.isArray(body)) return counted(body, 'key');
  const { message, operation, operations, projects, branches, branch, project, revoked, id, status, faults } = body;
  if (message !== undefined) return message;
  if (operation) return `${operation.action} is ${operation.status}`;
  if (operations) return counted(operations, 'operation');
  if (projects) return counted(projects, 'project');
  if (branches) return `${branches.length} branch${branches.length === 1 ? '' : 'es'}`;
  if (branch) return `branch ${branch.id}`;
  if (project) return `project ${project.id}`;
  if (faults) return `faults: ${faults.join(' ') || 'none'}`;
  if (body.next_operation) return `next operation: ${Object.values(body.next_operation).join(' ')}`;
  if (revoked) return `revoked key ${id}`;
  return (body.key ?? body.created_at) ? `created key ${id}` : `run ${id} is ${status}`;
}

function parse(text: string): Body | unknown[] | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
