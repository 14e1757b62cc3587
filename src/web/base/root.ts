/** The element in which the app is rendered. */
export const root = document.getElementById('app')
