// A minimal Elysia server. The benchmark `api` compares steno with this server.

import { Elysia } from 'elysia'

const app = new Elysia().get('/', () => 'hello world').listen({ port: 0, hostname: '127.0.0.1' })
console.log(`http://127.0.0.1:${app.server?.port}`)
