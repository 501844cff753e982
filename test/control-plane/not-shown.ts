import type { Endpoint } from './routes.js';

/** Everything the API's document leaves open, and what this plane does there unless it is told otherwise. */
export interface NotShown {
  /** Status of a success, by endpoint. Those not named answer 200. */
  readonly successStatus: Readonly<Partial<Record<Endpoint, number>>>;
  /** Shape of an error's body: `{code, message, request_id}`, the same within `{error: …}`, the bare message, or nothing. */
  readonly errorBody: 'plain' | 'nested' | 'text' | 'empty';
  /** Page size where `limit` is not given. */
  readonly defaultPageSize: number;
  readonly maximumPageSize: number;
  /** A `limit` above the maximum is answered with 400, or with a page of the maximum. */
  readonly overMaximum: 'refuse' | 'clamp';
  /**
   * `pagination.cursor` of a page behind which nothing is left. `given`: as on any page, and only a page without records has
   * none. `repeated`: one that leads to the same page again and again.
   */
  readonly lastPageCursor: 'given' | 'absent' | 'null' | 'empty' | 'repeated';
  /** End of a cursor. `+00:00` makes a client fail that does not encode it in the query. */
  readonly cursorZone: 'Z' | '+00:00';
  /** 0: all projects in one answer without `pagination`. Else `/projects` comes in pages, of this size without `limit`. */
  readonly projectsPageSize: number;
  /** 0: all keys in one response. Else the list shows so many of them, and a `Link` header announces more if there are. */
  readonly keysPageSize: number;
  /** `last_used_at` and `last_used_from_addr` of a key that was never used. */
  readonly neverUsed: 'absent' | 'null';
  /** DELETE of a key that is already revoked: 404, or the same answer once more. */
  readonly revokedAgain: 'not-found' | 'revoked';
}

/** Projects are listed newest first, as operations are; keys oldest first, the revoked ones left out. */
export const plainest: NotShown = {
  successStatus: {},
  errorBody: 'plain',
  defaultPageSize: 100,
  maximumPageSize: 1000,
  overMaximum: 'refuse',
  lastPageCursor: 'given',
  cursorZone: 'Z',
  projectsPageSize: 0,
  keysPageSize: 0,
  neverUsed: 'absent',
  revokedAgain: 'not-found',
};
