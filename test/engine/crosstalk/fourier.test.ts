import { expect, test } from 'bun:test'
import { points, transform } from '../../../src/engine/crosstalk/fourier.ts'
import { seeded } from '../../support/random.ts'

test('the transform of a block is that of the definition', () => {
  const random = seeded(1)
  const [real, imaginary] = [0, 1].map(() => Float64Array.from({ length: points }, () => random.next() - 0.5))
  const found = { real: real!.slice(), imaginary: imaginary!.slice() }
  transform(found.real, found.imaginary)
  for (const bin of [0, 1, 7, points / 2, points - 1]) {
    let [expectedReal, expectedImaginary] = [0, 0]
    for (let n = 0; n < points; n++) {
      const angle = (-2 * Math.PI * bin * n) / points
      expectedReal += real![n]! * Math.cos(angle) - imaginary![n]! * Math.sin(angle)
      expectedImaginary += real![n]! * Math.sin(angle) + imaginary![n]! * Math.cos(angle)
    }
    expect(found.real[bin]).toBeCloseTo(expectedReal, 9)
    expect(found.imaginary[bin]).toBeCloseTo(expectedImaginary, 9)
  }
})
