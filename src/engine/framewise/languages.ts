// The languages of the framewise models (CTC and TDT), and the scripts of these languages.

import { listedCode } from '../../languages.ts'

/**
 * Maps steno's language codes to those of Omnilingual ASR: ISO 639-3 codes with a script. Omnilingual ASR does not
 * support two languages of steno: Norwegian Nynorsk and Sanskrit.
 */
const omnilingual: Readonly<Record<string, string>> = Object.fromEntries(
  (
    'en=eng_Latn zh=cmn_Hans de=deu_Latn es=spa_Latn ru=rus_Cyrl ko=kor_Hang fr=fra_Latn ja=jpn_Jpan pt=por_Latn ' +
    'tr=tur_Latn pl=pol_Latn ca=cat_Latn nl=nld_Latn ar=arb_Arab sv=swe_Latn it=ita_Latn id=ind_Latn hi=hin_Deva ' +
    'fi=fin_Latn vi=vie_Latn he=heb_Hebr uk=ukr_Cyrl el=ell_Grek ms=zsm_Latn cs=ces_Latn ro=ron_Latn da=dan_Latn ' +
    'hu=hun_Latn ta=tam_Taml no=nob_Latn th=tha_Thai ur=urd_Arab hr=hrv_Latn bg=bul_Cyrl lt=lit_Latn la=lat_Latn ' +
    'mi=mri_Latn ml=mal_Mlym cy=cym_Latn sk=slk_Latn te=tel_Telu fa=fas_Arab lv=lav_Latn bn=ben_Beng sr=srp_Cyrl ' +
    'az=aze_Latn sl=slv_Latn kn=kan_Knda et=ekk_Latn mk=mkd_Cyrl br=bre_Latn eu=eus_Latn is=isl_Latn hy=hye_Armn ' +
    'ne=nep_Deva mn=mon_Cyrl bs=bos_Latn kk=kaz_Cyrl sq=als_Latn sw=swh_Latn gl=glg_Latn mr=mar_Deva pa=pan_Guru ' +
    'si=sin_Sinh km=khm_Khmr sn=sna_Latn yo=yor_Latn so=som_Latn af=afr_Latn oc=oci_Latn ka=kat_Geor be=bel_Cyrl ' +
    'tg=tgk_Cyrl sd=snd_Arab gu=guj_Gujr am=amh_Ethi yi=ydd_Hebr lo=lao_Laoo uz=uzb_Latn fo=fao_Latn ht=hat_Latn ' +
    'ps=pus_Arab tk=tuk_Latn mt=mlt_Latn lb=ltz_Latn my=mya_Mymr bo=bod_Tibt tl=tgl_Latn mg=mlg_Latn as=asm_Beng ' +
    'tt=tat_Cyrl haw=haw_Latn ln=lin_Latn ha=hau_Latn ba=bak_Cyrl jw=jav_Latn su=sun_Latn yue=yue_Hant ' +
    'ast=ast_Latn ceb=ceb_Latn ckb=ckb_Arab ff=ful_Latn ga=gle_Latn ig=ibo_Latn kam=kam_Latn kea=kea_Latn ' +
    'ky=kir_Cyrl lg=lug_Latn luo=luo_Latn nso=nso_Latn ny=nya_Latn om=orm_Latn or=ory_Orya umb=umb_Latn ' +
    'wo=wol_Latn xh=xho_Latn zu=zul_Latn'
  )
    .split(' ')
    .map(pair => pair.split('=')),
)

/** The languages of each kind of framewise model: `ctc` is Omnilingual ASR, and `tdt` is Parakeet v3. */
export const languagesByKind = {
  ctc: Object.keys(omnilingual),
  tdt: 'bg hr cs da nl en et fi fr de el hu it lv lt mt pl pt ro sk sl es sv ru uk'.split(' '),
} as const

/**
 * Maps script codes of Omnilingual ASR to Unicode scripts. A script code that is not in this map is itself the name of
 * a Unicode script.
 */
const compound: Record<string, string[]> = {
  Hans: ['Hani'],
  Hant: ['Hani'],
  Jpan: ['Hani', 'Hira', 'Kana'],
  Hang: ['Hang', 'Hani'],
}

/**
 * Returns a regular expression for one letter in a script of the language, or null for an unknown language. Some
 * letters, such as the Japanese ー, belong to several scripts, so the expression looks at all scripts of a letter
 * (`Script_Extensions`). Others, such as the Uzbek ʻ, belong to all scripts (`Common`), and match too.
 */
export function lettersOf(language: string): RegExp | null {
  const code = omnilingual[listedCode(language)]?.slice(-4)
  if (code === undefined) return null
  const scripts = [...(compound[code] ?? [code]), 'Common']
  return new RegExp(`[${scripts.map(script => `\\p{Script_Extensions=${script}}`).join('')}]`, 'u')
}
