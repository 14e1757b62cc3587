// The fixtures of every accepted container, with its usual codecs. fixtures/media/make.sh makes them.

/**
 * `durationMs` is the expected duration, by default 2000. `lateMs` is the expected delay of the sound, by default 0. In
 * WMA and WMV files, the silence that the encoder adds at the start and at the end counts as sound.
 */
export const mediaFixtures: {
  name: string
  container: string
  codec: string
  durationMs?: number
  lateMs?: number
}[] = [
  { name: 'cbr.mp3', container: 'mp3', codec: 'mp3' },
  { name: 'vbr-without-header.mp3', container: 'mp3', codec: 'mp3' },
  { name: 'pcm.wav', container: 'wav', codec: 'pcm_s16le' },
  { name: 'streamed.wav', container: 'wav', codec: 'pcm_u8' },
  { name: 'mulaw.wav', container: 'wav', codec: 'pcm_mulaw' },
  { name: 'adpcm-ms.wav', container: 'wav', codec: 'adpcm_ms' },
  { name: 'adpcm-ima.wav', container: 'wav', codec: 'adpcm_ima_wav' },
  { name: 'aac.m4a', container: 'mov', codec: 'aac' },
  { name: 'alac.m4a', container: 'mov', codec: 'alac' },
  { name: 'adts.aac', container: 'aac', codec: 'aac' },
  { name: 'vorbis.ogg', container: 'ogg', codec: 'vorbis' },
  { name: 'speex.ogg', container: 'ogg', codec: 'speex' },
  { name: 'flac.ogg', container: 'ogg', codec: 'flac' },
  { name: 'flac.flac', container: 'flac', codec: 'flac' },
  { name: 'opus.opus', container: 'ogg', codec: 'opus' },
  { name: 'wmav2.wma', container: 'asf', codec: 'wmav2', durationMs: 2090, lateMs: 46 },
  { name: 'wmav1.wma', container: 'asf', codec: 'wmav1', durationMs: 2090, lateMs: 46 },
  { name: 'pcm.aiff', container: 'aiff', codec: 'pcm_s16be' },
  { name: 'alac.caf', container: 'caf', codec: 'alac' },
  { name: 'ima.caf', container: 'caf', codec: 'adpcm_ima_qt' },
  { name: 'h264-aac.mp4', container: 'mov', codec: 'aac' },
  { name: 'h264-ac3.mp4', container: 'mov', codec: 'ac3' },
  { name: 'mpeg4-pcm.mov', container: 'mov', codec: 'pcm_s16le' },
  { name: 'mpeg4-mp3.avi', container: 'avi', codec: 'mp3' },
  { name: 'mpeg4-adpcm.avi', container: 'avi', codec: 'adpcm_ms' },
  { name: 'h264-eac3.mkv', container: 'matroska', codec: 'eac3' },
  { name: 'h264-flac.mkv', container: 'matroska', codec: 'flac' },
  { name: 'vp8-opus.webm', container: 'matroska', codec: 'opus' },
  { name: 'streamed.webm', container: 'matroska', codec: 'vorbis' },
  { name: 'wmv2-wmav2.wmv', container: 'asf', codec: 'wmav2', durationMs: 2090, lateMs: 46 },
  { name: 'flv1-mp3.flv', container: 'flv', codec: 'mp3' },
  { name: 'h264-aac.flv', container: 'flv', codec: 'aac' },
  { name: 'mpeg4-aac.m4v', container: 'mov', codec: 'aac' },
  { name: 'mpeg4-aac.3gp', container: 'mov', codec: 'aac' },
  { name: 'mpeg1-mp2.mpeg', container: 'mpeg', codec: 'mp2' },
  { name: 'h264-ac3.mts', container: 'mpegts', codec: 'ac3' },
  { name: 'theora-vorbis.ogv', container: 'ogg', codec: 'vorbis' },
  { name: 'mpeg2-aac.ts', container: 'mpegts', codec: 'aac' },
  { name: 'h264-mp2.ts', container: 'mpegts', codec: 'mp2' },
  { name: 'mpeg2-ac3.vob', container: 'mpeg', codec: 'ac3' },
  { name: 'h264-aac.f4v', container: 'mov', codec: 'aac' },
]
