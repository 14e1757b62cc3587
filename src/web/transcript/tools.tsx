// The toolbar above a transcript.

import { useSignal } from '@preact/signals'
import { go } from '../base/route.ts'
import { deleteJob } from '../jobs/job-list.ts'
import { Icon, type IconName } from '../parts/icon.tsx'
import { words } from '../words.ts'
import { copyLink, copyText } from './copying.ts'
import type { Studio } from './studio.ts'

const text = words.transcript

export function Tools({ studio }: { studio: Studio }) {
  const { edits } = studio
  /** True if a narrow screen shows all tools. False if it shows only some, with a button that shows all. */
  const showsAll = useSignal(false)
  return (
    <div class={showsAll.value ? 'tools all' : 'tools'} role="toolbar" aria-label={text.tools}>
      <Tool icon="pen" label={text.edit} isOn={edits.isEditing.value} onUse={() => studio.toggleEditing()} />
      <Tool
        icon="search"
        label={text.find}
        isOn={studio.isFinding.value}
        onUse={() => studio.setFinding(!studio.isFinding.value)}
      />
      <Tool icon="download" label={text.export} onUse={() => (studio.dialog.value = 'export')} />
      <Tool icon="copy" label={text.copy} onUse={() => copyText(studio, { withTimes: false })} />
      <Tool icon="clock" label={text.copyWithTimes} onUse={() => copyText(studio, { withTimes: true })} />
      <Tool icon="link" label={text.copyMoment} onUse={() => copyLink(studio.player.position)} />
      <Tool
        icon="doubt"
        label={text.doubtful}
        isOn={studio.doubt.isShown.value}
        onUse={() => studio.setDoubt(!studio.doubt.isShown.value)}
      />
      <Tool icon="print" label={text.print} onUse={() => print()} />
      <Tool
        icon="bin"
        label={text.remove}
        onUse={() => {
          deleteJob(studio.job)
          go('/jobs')
        }}
      />
      <button
        type="button"
        class="quiet tool small-only more-tools"
        aria-expanded={showsAll.value}
        onClick={() => (showsAll.value = !showsAll.value)}
      >
        <Icon name={showsAll.value ? 'up' : 'menu'} />
        <span>{showsAll.value ? text.fewerTools : text.moreTools}</span>
      </button>
    </div>
  )
}

type ToolProps = { icon: IconName; label: string; isOn?: boolean; onUse: () => void }

function Tool({ icon, label, isOn, onUse }: ToolProps) {
  return (
    // By default, pressing a button clears the selection in the text. `preventDefault` keeps the selection.
    <button
      type="button"
      class="quiet tool"
      aria-pressed={isOn}
      onMouseDown={event => event.preventDefault()}
      onClick={onUse}
    >
      <Icon name={icon} />
      <span>{label}</span>
    </button>
  )
}
