// The containers and codecs that the media child may open. FFmpeg supports hundreds of others, for example
// the formats of game discs, and playlists that name other files. A short list reduces the attack surface.

/**
 * The FFmpeg names of the containers for the 25 accepted file extensions. The list also has containers of
 * files that users often rename to an accepted extension.
 */
export const containers = words(`
  mov,mp4,m4a,3gp,3g2,mj2 matroska,webm avi asf flv live_flv kux mxf nut dv
  mpegts mpeg mpegvideo h264 hevc m4v mpegtsraw
  mp3 aac loas ac3 eac3 dts dtshd truehd mlp amr amrnb amrwb gsm
  wav w64 aiff au caf voc sox ircam nistsphere xwma
  ogg flac ape tta wv tak mpc mpc8 dsf iff qcp rm
`)

export const codecs = words(`
  aac aac_latm ac3 eac3 dca mlp truehd alac als opus vorbis speex
  mp1float mp2float mp3float mp1 mp2 mp3 flac ape tta wavpack tak mpc7 mpc8
  wmav1 wmav2 wmapro wmalossless wmavoice amrnb amrwb gsm gsm_ms ilbc qcelp evrc
  g722 g723_1 g726 g726le g728 g729 nellymoser qdm2 qdmc mace3 mace6 imc
  truespeech cook sipr ralf real_144 real_288 msnsiren dvaudio s302m dss_sp ac4
  dsd_lsbf dsd_msbf dsd_lsbf_planar dsd_msbf_planar 8svx_exp 8svx_fib
  adpcm_ima_wav adpcm_ima_qt adpcm_ms adpcm_swf adpcm_yamaha adpcm_ima_oki adpcm_ct
  adpcm_sbpro_2 adpcm_sbpro_3 adpcm_sbpro_4 pcm_alaw pcm_mulaw
  pcm_s8 pcm_s8_planar pcm_u8 pcm_s16be pcm_s16be_planar pcm_s16le pcm_s16le_planar
  pcm_u16be pcm_u16le pcm_s24be pcm_s24le pcm_s24le_planar pcm_u24be pcm_u24le
  pcm_s32be pcm_s32le pcm_s32le_planar pcm_u32be pcm_u32le pcm_s64be pcm_s64le
  pcm_f16le pcm_f24le pcm_f32be pcm_f32le pcm_f64be pcm_f64le pcm_bluray pcm_dvd pcm_vidc
`)

function words(text: string): string[] {
  return text.trim().split(/\s+/)
}
