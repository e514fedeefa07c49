// The parts that open above every view: the sheet of shortcuts and the command palette.
class Overlays {
  help = $state(false);
  palette = $state(false);
}

export const overlays = new Overlays();
