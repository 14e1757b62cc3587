// The tools of the MCP endpoint, by their names. Each tool returns a text for the assistant.

import { listTranscripts, searchTranscripts } from './list-tools.ts'
import { transcribeUrl } from './transcribe-tool.ts'
import { getTranscript } from './transcript-tool.ts'

export const tools = {
  transcribe_url: transcribeUrl,
  get_transcript: getTranscript,
  search_transcripts: searchTranscripts,
  list_transcripts: listTranscripts,
}
