import { idsIn } from './id-list.js';
import { BadValue, refuseLeftover } from './input-values.js';

const maxProjects = 100;

/** Exactly one id, for a mode that works on one project. */
export function projectId(text: string): string {
  const [id = '', ...others] = atLeastOne(text);
  if (others.length > 0)
    throw new BadValue(
      `names ${others.length + 1} projects; expected one: only wait-operation with operation-id: all takes several`,
    );
  return id;
}

/** 1 to 100 ids, without duplicates. */
export function projectIds(text: string): string[] {
  const ids = atLeastOne(text);
  if (ids.length > maxProjects)
    throw new BadValue(`names ${ids.length} projects; expected at most ${maxProjects} in one step`);
  return ids;
}

function atLeastOne(text: string): string[] {
  const ids = idsIn(text, {
    id: oneId,
    whyEmpty:
      'is empty; expected the id of a project. An expression that gives nothing (a mistyped step or output) leaves it so',
    insteadOfObject: 'Expected the id of a project',
    example: '["id", "id"]',
    jq: '.projects[].id',
    areNumbers: true,
  });
  // A wait for no projects would succeed at once and open the gate.
  if (ids.length === 0) throw new BadValue('is an empty list; expected the id of at least one project');
  return ids;
}

function oneId(text: string): string {
  refuseLeftover(text);
  if (text === '' || text === '.' || text === '..' || /[/\p{Cc}]/u.test(text))
    throw new BadValue(
      'is not the id of a project; expected no “/”, no control characters, and neither “.” nor “..” nor an empty text',
    );
  return text;
}
