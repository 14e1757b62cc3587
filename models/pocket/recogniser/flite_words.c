/* Speaks each line "voice<TAB>stretch<TAB>text" of the standard input with flite. For each line, prints a line
   "rate samples|phone end word id|..." and then the raw samples. "samples" is their number.
   cc -O2 flite_words.c -o flite_words -lflite_cmu_us_kal -lflite_cmu_us_kal16 -lflite_cmu_us_awb \
      -lflite_cmu_us_rms -lflite_cmu_us_slt -lflite_usenglish -lflite_cmulex -lflite -lm */
#include <flite/flite.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

cst_voice *register_cmu_us_kal(const char *), *register_cmu_us_kal16(const char *), *register_cmu_us_awb(const char *),
    *register_cmu_us_rms(const char *), *register_cmu_us_slt(const char *);

int main(void) {
  char line[4096];
  flite_init();
  const char *names[] = {"kal", "kal16", "awb", "rms", "slt"};
  cst_voice *voices[] = {register_cmu_us_kal(NULL), register_cmu_us_kal16(NULL), register_cmu_us_awb(NULL),
                         register_cmu_us_rms(NULL), register_cmu_us_slt(NULL)};
  while (fgets(line, sizeof line, stdin)) {
    char *stretch = strchr(line, '\t');
    if (!stretch) continue;
    *stretch++ = 0;
    char *text = strchr(stretch, '\t');
    if (!text) continue;
    *text++ = 0;
    text[strcspn(text, "\n")] = 0;
    int v = 0;
    for (int i = 0; i < 5; i++)
      if (!strcmp(names[i], line)) v = i;
    feat_set_float(voices[v]->features, "duration_stretch", atof(stretch));
    cst_utterance *u = flite_synth_text(text, voices[v]);
    cst_wave *wave = utt_wave(u);
    printf("%d %d", wave->sample_rate, wave->num_samples);
    for (cst_item *s = relation_head(utt_relation(u, "Segment")); s; s = item_next(s)) {
      cst_item *word = path_to_item(s, "R:SylStructure.parent.parent");
      printf("|%s %f %s %ld", item_feat_string(s, "name"), item_feat_float(s, "end"),
             word ? item_feat_string(word, "name") : "-", word ? (long)item_as(word, "Word") : 0L);
    }
    printf("\n");
    fwrite(wave->samples, 2, wave->num_samples, stdout);
    fflush(stdout);
    delete_utterance(u);
  }
  return 0;
}
