/** Every screen, in either theme. */
import { expectAccessibleInBothThemes } from '../support/accessibility.ts';
import { eachScreen } from '../support/screens.ts';

eachScreen('is accessible', expectAccessibleInBothThemes);
