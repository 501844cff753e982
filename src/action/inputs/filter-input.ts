import { BadFilter, type Filter, parseFilter } from '../../modes/lists/filter.js';
import { BadValue, type Parse } from './input-values.js';

export function filterOf(...fields: [readonly string[], Readonly<Record<string, string>>?]): Parse<Filter> {
  return (text) => {
    try {
      return parseFilter(text, ...fields);
    } catch (error) {
      throw error instanceof BadFilter ? new BadValue(error.message, true) : error;
    }
  };
}
