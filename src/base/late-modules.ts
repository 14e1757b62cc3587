// Modules of Node that most starts of the program do not need. Each function loads its module at the first call. To load
// node:http takes 6 ms of CPU time, node:zlib 2 ms, and node:tls and node:dns 1 ms each.

export const http = () => process.getBuiltinModule('node:http')
export const tls = () => process.getBuiltinModule('node:tls')
export const zlib = () => process.getBuiltinModule('node:zlib')
export const dns = () => process.getBuiltinModule('node:dns/promises')
