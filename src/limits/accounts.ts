// The limits of accounts, sign-in sessions and money, and of OAuth.

import { day, hour, KB, minute, second } from './units.ts'

export const accountLimits = {
  // Limits of accounts and money.
  activeKeysMax: 5,
  keyNameLengthMax: 80,
  /** Minimum interval between two updates of the stored time of the last use of an API key. */
  keyUseEveryMs: 1 * minute,
  passwordLengthMin: 10,
  passwordLengthMax: 1024,
  emailLengthMax: 254,
  emailLocalBytesMax: 64,
  /** Memory, in bytes, for one argon2id hash. The three passes take about 0.25 s on a small machine. */
  passwordHashBytes: 64 * 1024 * KB,
  passwordHashPasses: 3,
  mailTimeoutMs: 30 * second,
  /** Timeout of each step when `steno doctor` checks the mail server. */
  mailCheckMs: 10 * second,
  verificationTtlMs: 24 * hour,
  /** Minimum time between two verification mails to the same email address. */
  verificationMailEveryMs: 10 * minute,
  /** Time for which a sign-in session stays valid after its last use. */
  sessionTtlMs: 30 * day,
  /** Minimum interval between two updates of the stored time of the last use of a session. */
  sessionUseEveryMs: 1 * minute,
  /** Maximum number of sign-in sessions of one account. */
  sessionsMax: 50,
  /** Age at which a mail file in the data folder is removed. Mails are written to files if no mail server is set. */
  mailKeptMs: 48 * hour,
  /**
   * Maximum number of rows that one statement of an hourly sweep (a periodic task) deletes: of sessions, voices,
   * clients, grants, tokens, verification links and unverified accounts.
   */
  purgedRowsMax: 1000,
  depositCentsMin: 500,
  /**
   * Maximum balance of an account: ten billion dollars, or 3.6e15 units. JavaScript represents all integers up to 9e15
   * exactly, so all sums of money are exact.
   */
  balanceCentsMax: 1_000_000_000_000,
  firstCreditCents: 10_000,
  /** Number of money units in a cent. At a price of one cent an hour, one second costs one unit. */
  unitsPerCent: 3600,

  // Limits of OAuth.
  /** Time in which a client must exchange the authorization code of a grant for tokens. */
  codeTtlMs: 1 * minute,
  accessTokenTtlMs: 1 * hour,
  /**
   * Time for which an access token is kept after its expiry. A long request checks its token again, for example when
   * its body has arrived. The check passes if the token was valid at the start of the request. So the token must still
   * be stored, even if it has expired since then.
   */
  accessTokenKeptMs: 1 * hour,
  /** Lifetime of a refresh token. A client that uses a refresh token gets a new one with the same lifetime. */
  refreshTokenTtlMs: 30 * day,
  /** Maximum number of OAuth grants of one account. */
  grantsMax: 50,
  /** Time without use after which an OAuth client is removed, if it has no grant. */
  clientKeptMs: 60 * day,
  /**
   * Age at which an OAuth client is removed if no account has ever given it access. Anyone can register clients, so
   * unused clients could otherwise fill the database.
   */
  clientUnusedMs: 7 * day,
  clientNameLengthMax: 100,
  redirectUrisMax: 10,
  /** Maximum length of all redirect addresses of a client together. */
  redirectUrisLengthMax: 4096,
  stateLengthMax: 4096,
} as const
