import { isAbsent, toText } from '../text/json.js';
import { sanitizeLine } from '../text/sanitize-line.js';
import type { ApiRecord } from './records.js';

export function fieldText({ record }: ApiRecord, name: string): string | undefined {
  const value = record[name];
  return isAbsent(value) ? undefined : toText(value);
}

/** The text of a field, safe to print. Empty if the record does not have the field. */
export function displayText(recorded: ApiRecord, name: string, max: number): string {
  return sanitizeLine(fieldText(recorded, name) ?? '', max);
}

/** Formats a timestamp to the second, for example `2026-01-31 09:30:00Z`. */
export function displayTime(recorded: ApiRecord, name: string): string {
  return displayText(recorded, name, 40).replace(/^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(\.\d+)?/, '$1 $2');
}

/** Returns a timestamp in milliseconds since 1970, or undefined if the field is absent or not a timestamp. */
export function fieldTime(recorded: ApiRecord, name: string): number | undefined {
  // Some services write a space in place of the `T`.
  const text = (fieldText(recorded, name) ?? '').replace(/^(\d{4}-\d\d-\d\d) /, '$1T');
  // Date.parse alone would read a bare number as a year or month, and a time without a zone as local time.
  const [, local, zone = ''] = /^(\d{4}-\d\d-\d\dT[\d:.,]+)(.*)/.exec(text) ?? [];
  // Databases shorten a zone of whole hours to `+00`.
  const time = local === undefined ? Number.NaN : Date.parse(local + (zone || 'Z').replace(/^[+-]\d\d$/, '$&:00'));
  // For a missing time, some services send a zero timestamp, such as 0001-01-01.
  return time > 0 ? time : undefined;
}
