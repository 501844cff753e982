import type { Endpoint } from './routes.js';

/** The choices that the API's document leaves open. */
export interface NotShown {
  /** Status of a success, by endpoint. Default: 200. */
  readonly successStatus: Readonly<Partial<Record<Endpoint, number>>>;
  /** Shape of an error's body: `{code, message, request_id}`, the same within `{error: …}`, the bare message, or nothing. */
  readonly errorBody: 'plain' | 'nested' | 'text' | 'empty';
  /** Page size without `limit`. */
  readonly defaultPageSize: number;
  readonly maximumPageSize: number;
  /** The response to a `limit` above the maximum: 400, or a page of the maximum. */
  readonly overMaximum: 'refuse' | 'clamp';
  /**
   * `pagination.cursor` of the last page. `given`: as on any page, and only a page without records has none. `repeated`: one
   * that leads to the same page again.
   */
  readonly lastPageCursor: 'given' | 'absent' | 'null' | 'empty' | 'repeated';
  /** End of a cursor. With `+00:00` a client fails if it does not URL-encode the cursor. */
  readonly cursorZone: 'Z' | '+00:00';
  /** 0: all projects in one response without `pagination`. Else `/projects` has pages, of this size without `limit`. */
  readonly projectsPageSize: number;
  /** 0: all keys in one response. Else the list shows so many of them, and a `Link` header announces more if there are. */
  readonly keysPageSize: number;
  /** `last_used_at` of a key that was never used. `absent`: `last_used_from_addr` is absent, too. */
  readonly neverUsed: 'absent' | 'null';
  /** DELETE of a key that is already revoked: 404, or the same response again. */
  readonly revokedAgain: 'not-found' | 'revoked';
}

/** Projects are listed newest first, as operations are; keys oldest first, the revoked ones left out. */
export const plainest: NotShown = {
  successStatus: { 'create-branch': 201 },
  errorBody: 'plain',
  defaultPageSize: 100,
  maximumPageSize: 1000,
  overMaximum: 'refuse',
  lastPageCursor: 'given',
  cursorZone: 'Z',
  projectsPageSize: 0,
  keysPageSize: 0,
  neverUsed: 'null',
  revokedAgain: 'not-found',
};
