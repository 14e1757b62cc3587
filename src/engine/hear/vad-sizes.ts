// The sizes of the inputs and layers of the voice detection network.

export const frameSamples = 512
/**
 * The number of samples that are added before each frame, and also after it. The samples before a frame are the end of
 * the previous frame, or zeros before the first frame. The samples after a frame are its own mirrored end.
 */
export const contextSamples = 64
export const inputSamples = contextSamples + frameSamples + contextSamples
export const fftSamples = 256
export const hopSamples = 128
export const hops = (inputSamples - fftSamples) / hopSamples + 1
export const bins = fftSamples / 2 + 1
export const [evenSize, oddSize] = [fftSamples / 2, fftSamples / 2 - 1]
export const stateSize = 128
