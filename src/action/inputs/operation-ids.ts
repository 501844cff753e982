import { parseIdList } from './id-list.js';
import { BadValue, rejectLeftover } from './input-values.js';

export const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export function parseOperationIds(text: string): string[] {
  if (/^\W*all\W*$/i.test(text)) throw new BadValue('is not an id; did you mean “all”, alone and in lower case?');
  return parseIdList(text, {
    id: parseOperationId,
    whyEmpty:
      'is empty. An expression is empty if the step id or output name is misspelled, the step was skipped, or a jq command failed. Expected operation ids, or the word “all” for every unfinished operation in the project. Or set response-file instead',
    insteadOfObject:
      'Do not pass an API response here, because the runner prints inputs. Write the response to a file (curl -o), and set response-file to its path',
    jq: '.operations[].id',
  });
}

function parseOperationId(text: string): string {
  if (!uuid.test(rejectLeftover(text)))
    throw new BadValue(
      'is not an operation id; expected a UUID, such as a07f8772-1877-4da9-a939-3a3ae62d1d8d, or the word “all” alone',
    );
  return text.toLowerCase();
}
