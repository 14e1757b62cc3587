// The version of the API, and the policy on versions.

export const apiVersion = '1.0.0'

/** The policy on versions and on deprecation, which GET /v1 and the docs page show. */
export const policy = {
  versioning:
    'Breaking changes come only under a new major version, next to which v1 stays for at least twelve months.',
  deprecation: 'At least six months before an endpoint, parameter or field goes.',
}
